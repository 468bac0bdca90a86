// The page that compares a book with its sources. The same comparison is shown again after a value was taken, so that the
// sources are not asked again.

const { comparison } = document.getElementById("sources").dataset;
history.replaceState(null, "", `?of=${encodeURIComponent(comparison)}`);
