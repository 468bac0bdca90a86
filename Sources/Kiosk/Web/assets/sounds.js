// Three short sounds that are made here. The sound for a new book rises, an owned book has two equal tones, and the
// sound for a book that needs a person falls. A browser allows a page to make sound only after the first touch or key.
// Until then, areSoundsReady() returns false.

const store = "bookplate.sounds";

/** Returns the settings for sounds: on, which is true or false, and volume, which is from 0 to 1. */
export function readSounds() { return { on: true, volume: 0.5, ...JSON.parse(localStorage.getItem(store) ?? "{}") }; }
export function setSounds(changes) { localStorage.setItem(store, JSON.stringify({ ...readSounds(), ...changes })); }

/** The tones of each sound, each with its frequency in hertz and its start and end in seconds. */
const tunes = {
  new: [[660, 0, 0.09], [990, 0.1, 0.24]],
  owned: [[587, 0, 0.1], [587, 0.15, 0.25]],
  attention: [[494, 0, 0.12], [330, 0.13, 0.32]],
};

const context = typeof AudioContext === "undefined" ? null : new AudioContext();
let isAllowed = context?.state === "running", rest = 0;

/**
 * Returns true if the browser allows sound. When the browser begins to allow it, the document gets a "soundready"
 * event.
 */
export function areSoundsReady() { return isAllowed; }

/** Plays the sound "new", "owned" or "attention". For any other name, plays nothing. */
export async function play(name) {
  const { on, volume } = readSounds();
  if (!on || !isAllowed || !tunes[name]) return;
  if (context.state !== "running") await context.resume();
  for (const [frequency, from, to] of tunes[name]) {
    const [start, end] = [context.currentTime + from, context.currentTime + to];
    const tone = new OscillatorNode(context, { type: "triangle", frequency });
    // Without a slope at each end, a tone begins and ends with a click.
    const level = new GainNode(context, { gain: 0 });
    level.gain.setValueAtTime(0, start);
    level.gain.linearRampToValueAtTime(volume * 0.6, start + 0.01);
    level.gain.setValueAtTime(volume * 0.6, end - 0.04);
    level.gain.linearRampToValueAtTime(0, end);
    tone.connect(level).connect(context.destination);
    tone.start(start);
    tone.stop(end);
  }
  // A running context keeps the processor awake even in silence.
  clearTimeout(rest);
  rest = setTimeout(() => context.suspend(), 3000);
}

function wake() { if (!isAllowed) context?.resume(); }
for (const name of ["pointerdown", "keydown"]) addEventListener(name, wake, { capture: true });
context?.addEventListener("statechange", () => {
  if (isAllowed || context.state !== "running") return;
  isAllowed = true;
  document.dispatchEvent(new Event("soundready"));
});
