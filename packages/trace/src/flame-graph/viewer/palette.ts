/** The colours of the canvas, which style sheets don't reach. */
export interface Palette {
  readonly ground: string;
  readonly ink: string;
  readonly soft: string;
  readonly line: string;
  readonly accent: string;
  readonly failure: string;
  readonly memory: string;
  readonly memoryLine: string;
  /** Grounds of frames, one of which a name gets. Ink on each has a contrast of 4.5 to 1 or more. */
  readonly frames: readonly string[];
  readonly frameInk: string;
  /** The ground of frames that a search has not found, and what is written on it. */
  readonly faded: string;
  readonly fadedInk: string;
}

/** Evenly around the wheel but for the reds, which say that something failed. */
const hues = [62, 78, 95, 118, 145, 168, 195, 225, 255, 285];

/** Reads what the page's own colours come to where the viewer stands. */
export function readPalette(host: HTMLElement): Palette {
  const style = getComputedStyle(host);
  const isDark = luminanceOf(style.backgroundColor) < 0.5;
  const read = (name: string) => {
    host.style.color = `var(${name})`;
    const value = style.color;
    host.style.removeProperty('color');
    return value;
  };
  return {
    ground: style.backgroundColor,
    ink: read('--ink'),
    soft: read('--soft'),
    line: read('--line'),
    accent: read('--accent'),
    failure: read('--failure'),
    memory: read('--memory'),
    memoryLine: read('--memory-line'),
    frames: hues.map((hue) => (isDark ? `oklch(0.44 0.075 ${hue})` : `oklch(0.86 0.085 ${hue})`)),
    frameInk: isDark ? '#f4f1ea' : '#16191c',
    faded: isDark ? '#2b3138' : '#ebe8e0',
    fadedInk: isDark ? '#a6abb2' : '#5a6068',
  };
}

/** How light a colour is, from 0 to 1, as far as a choice of two takes it. */
function luminanceOf(color: string): number {
  const canvas = document.createElement('canvas');
  canvas.width = 1;
  canvas.height = 1;
  const context = canvas.getContext('2d');
  if (context === null) return 1;
  context.fillStyle = color;
  context.fillRect(0, 0, 1, 1);
  const [red = 255, green = 255, blue = 255] = context.getImageData(0, 0, 1, 1).data;
  return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
}

/** The colour of a name, which is the same in every flame graph. */
export function colourOf(name: string, colours: number): number {
  let hash = 0x811c9dc5; // FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % colours;
}
