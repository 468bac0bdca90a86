// Three short sounds, made here: rising for a new book, level twice for one that is owned, falling for one that needs a person.
// A browser lets a page sound from the first touch or key on; until then areReady() is false.

const store = "bookplate.sounds";

/** Whether sounds are on, and how loud: 0 to 1. */
export function sounds() { return { on: true, volume: 0.5, ...JSON.parse(localStorage.getItem(store) ?? "{}") }; }
export function setSounds(change) { localStorage.setItem(store, JSON.stringify({ ...sounds(), ...change })); }

/** Hertz and seconds, from when to when. */
const tunes = {
  new: [[660, 0, 0.09], [990, 0.1, 0.24]],
  owned: [[587, 0, 0.1], [587, 0.15, 0.25]],
  attention: [[494, 0, 0.12], [330, 0.13, 0.32]],
};

const context = typeof AudioContext === "undefined" ? null : new AudioContext();
let isAllowed = context?.state === "running", rest = 0;

/** Whether the browser lets the page sound. "soundready" is sent to the document when it does. */
export function areReady() { return isAllowed; }

/** Plays one of "new", "owned", "attention"; anything else is silent. */
export async function play(name) {
  const { on, volume } = sounds();
  if (!on || !isAllowed || !tunes[name]) return;
  if (context.state !== "running") await context.resume();
  for (const [frequency, from, to] of tunes[name]) {
    const [start, end] = [context.currentTime + from, context.currentTime + to];
    const tone = new OscillatorNode(context, { type: "triangle", frequency });
    // Without a slope at both ends a tone begins and ends with a click.
    const level = new GainNode(context, { gain: 0 });
    level.gain.setValueAtTime(0, start);
    level.gain.linearRampToValueAtTime(volume * 0.6, start + 0.01);
    level.gain.setValueAtTime(volume * 0.6, end - 0.04);
    level.gain.linearRampToValueAtTime(0, end);
    tone.connect(level).connect(context.destination);
    tone.start(start);
    tone.stop(end);
  }
  // A context that runs keeps a processor awake for silence.
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
