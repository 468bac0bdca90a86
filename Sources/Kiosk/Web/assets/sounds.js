// Three short sounds, made here: rising for a new book, two level tones for an owned one, falling for one that needs a
// person. A browser allows a page to make sound from the first touch or key on; until then areSoundsReady() is false.

const store = "bookplate.sounds";

/** Returns whether sounds are on, and how loud they are, from 0 to 1. */
export function readSounds() { return { on: true, volume: 0.5, ...JSON.parse(localStorage.getItem(store) ?? "{}") }; }
export function setSounds(changes) { localStorage.setItem(store, JSON.stringify({ ...readSounds(), ...changes })); }

/** The tones of each sound: hertz, and the seconds from start to end. */
const tunes = {
  new: [[660, 0, 0.09], [990, 0.1, 0.24]],
  owned: [[587, 0, 0.1], [587, 0.15, 0.25]],
  attention: [[494, 0, 0.12], [330, 0.13, 0.32]],
};

const context = typeof AudioContext === "undefined" ? null : new AudioContext();
let isAllowed = context?.state === "running", rest = 0;

/** Returns whether the browser allows sound. When it begins to, the document gets a "soundready" event. */
export function areSoundsReady() { return isAllowed; }

/** Plays the sound "new", "owned" or "attention". Any other name is silent. */
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
