import Bookplate
import Hummingbird

extension KioskParts {
    /// Everything that can be asked for, in one table; Web/openapi.json describes what begins with /api, and /healthz.
    var routes: [Route] { pageRoutes + apiRoutes + AssetRoutes(web: web).routes }

    private var pageRoutes: [Route] {
        [
            ScanPage(parts: self).routes,
            HomePage(parts: self).routes,
            LibraryPage(parts: self).routes,
            BookPage(parts: self).routes,
            BookFormPage(parts: self).routes,
            IntakePage(parts: self).routes,
            StatsPage(parts: self).routes,
            SettingsPage(parts: self).routes,
            NamesPage(parts: self).routes,
            ChangesPage(parts: self).routes,
            ScanKeysPage(parts: self).routes,
            SignInPage(parts: self).routes,
        ].flatMap(\.self)
    }

    private var apiRoutes: [Route] {
        [
            StationAPI(parts: self).routes,
            AccessAPI(parts: self).routes,
            StationRoutes(parts: self).routes,
            PreviewRoutes(parts: self).routes,
            EventRoutes(events: events, run: run).routes,
            ScanNumbers(pages: pages).routes,
            BooksAPI(parts: self).routes,
            SuggestionsAPI(parts: self).routes,
            BulkAPI(parts: self).routes,
            HistoryAPI(parts: self).routes,
            BookAPI(parts: self).routes,
            ReadingAPI(parts: self).routes,
            SessionAPI(parts: self).routes,
            AnnotationAPI(parts: self).routes,
            CoverAPI(parts: self).routes,
            StatsAPI(parts: self).routes,
            NamesAPI(parts: self).routes,
            SettingsAPI(parts: self).routes,
            HubAPI(parts: self).routes,
        ].flatMap(\.self)
    }
}
