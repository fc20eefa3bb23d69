import type { Matches } from '../find.ts';
import { childrenOf, type Frames, frameAt, type Window } from '../frames.ts';
import { element } from './dom.ts';
import {
  axisHeight,
  type MemorySteps,
  measureFont,
  memoryHeight,
  paintAxis,
  paintCollapsedGaps,
  paintMemory,
  paintRows,
  rowHeight,
  type Surface,
} from './paint.ts';
import { readPalette } from './palette.ts';

/** The content of the chart. */
export interface Scene {
  readonly frames: Frames;
  readonly labels: readonly string[];
  readonly colours: Int32Array;
  /** Places at which a pause was cut short. */
  readonly collapsedGaps: readonly number[];
  /** Drawn above the rows, where there is any. */
  readonly memory: { readonly steps: MemorySteps; readonly label: (window: Window) => string } | undefined;
}

export interface ChartListener {
  /** A frame was chosen, or none (-1). */
  readonly onSelect: (frame: number) => void;
  /** A frame lies under the pointer, or none (-1), at a place of the viewport. */
  readonly onHover: (frame: number, x: number, y: number) => void;
  readonly onWindow: (window: Window) => void;
}

/** The boxes: painted on a canvas as large as what is seen of them, so that 100,000 are as quick as 10. */
export interface Chart {
  readonly root: HTMLElement;
  readonly show: (scene: Scene) => void;
  readonly mark: (matches: Matches | undefined) => void;
  /** Chooses a frame and brings it into sight; `zooms` makes it as wide as the chart. */
  readonly select: (frame: number, zooms: boolean) => void;
  readonly zoomTo: (window: Window) => void;
  /** Zooms around the middle; more than 1 shows less of it. */
  readonly zoomBy: (factor: number) => void;
  readonly repaint: () => void;
  readonly destroy: () => void;
}

/** Nothing finer is measured than a nanosecond. */
const narrowestWindow = 20;

export function createChart(host: HTMLElement, listener: ChartListener): Chart {
  const canvas = element('canvas', { 'aria-hidden': 'true' });
  // As high as all rows; within it the canvas stays where it is seen.
  const spacer = element('div', { class: 'spacer' }, canvas);
  const root = element(
    'div',
    {
      class: 'chart',
      role: 'application',
      tabindex: '0',
      'aria-roledescription': 'flame graph',
      'aria-label': 'Calls. Arrow keys go to callers, callees and neighbours; Enter zooms, Escape shows everything.',
    },
    spacer,
  );
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  let scene: Scene | undefined;
  let window: Window = { from: 0, to: 1 };
  let matches: Matches | undefined;
  let selected = -1;
  let hovered = -1;
  let surface: Surface | undefined;
  let request = 0;

  const headHeight = () => axisHeight + (scene?.memory === undefined ? 0 : memoryHeight);
  const whole = (): Window => ({ from: 0, to: Math.max(scene?.frames.extent ?? 0, 1) });

  function repaint(): void {
    if (request === 0) request = requestAnimationFrame(paint);
  }

  function refresh(): void {
    surface = undefined;
    repaint();
  }

  function measure(): Surface {
    const width = root.clientWidth;
    const height = root.clientHeight;
    const fineness = globalThis.devicePixelRatio || 1;
    canvas.width = Math.max(1, Math.round(width * fineness));
    canvas.height = Math.max(1, Math.round(height * fineness));
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    context.setTransform(fineness, 0, 0, fineness, 0, 0);
    const font = measureFont(context, getComputedStyle(root).getPropertyValue('--mono') || 'monospace');
    return { context, palette: readPalette(host), width, height, ...font };
  }

  function paint(): void {
    request = 0;
    if (scene === undefined) return;
    surface ??= measure();
    const { width, height, palette } = surface;
    if (width === 0) return;
    context.fillStyle = palette.ground;
    context.fillRect(0, 0, width, height);
    const head = headHeight();
    const { frames, labels, colours, collapsedGaps, memory } = scene;
    paintAxis(surface, window);
    paintCollapsedGaps(surface, window, collapsedGaps);
    if (memory !== undefined) paintMemory(surface, memory.steps, window, axisHeight, memory.label(window));
    const input = { frames, labels, colours, window, matches, selected, hovered };
    paintRows(surface, input, head - root.scrollTop, head);
  }

  function setWindow(next: Window): void {
    const { to: extent } = whole();
    const size = Math.min(Math.max(next.to - next.from, Math.min(narrowestWindow, extent)), extent);
    const from = Math.min(Math.max(next.from, 0), extent - size);
    window = { from, to: from + size };
    listener.onWindow(window);
    repaint();
  }

  function zoomAt(x: number, factor: number): void {
    const size = (window.to - window.from) / factor;
    const middle = window.from + (x / Math.max(root.clientWidth, 1)) * (window.to - window.from);
    setWindow({ from: middle - (middle - window.from) / factor, to: middle - (middle - window.from) / factor + size });
  }

  function placeOf(event: MouseEvent): { frame: number; x: number } {
    const { left, top } = root.getBoundingClientRect();
    const x = event.clientX - left;
    const y = event.clientY - top;
    const head = headHeight();
    if (scene === undefined || y < head || x > root.clientWidth) return { frame: -1, x };
    const perPixel = (window.to - window.from) / Math.max(root.clientWidth, 1);
    const row = Math.floor((y - head + root.scrollTop) / rowHeight);
    return { frame: frameAt(scene.frames, row, window.from + x * perPixel, perPixel), x };
  }

  function select(frame: number, zooms: boolean): void {
    selected = frame;
    if (scene !== undefined && frame >= 0) {
      const from = scene.frames.from[frame] as number;
      const to = scene.frames.to[frame] as number;
      const size = window.to - window.from;
      if (zooms) setWindow({ from, to });
      else if (to < window.from || from > window.to)
        setWindow({ from: (from + to - size) / 2, to: (from + to + size) / 2 });
      scrollToRow(scene.frames.row[frame] as number);
    }
    listener.onSelect(frame);
    repaint();
  }

  function scrollToRow(row: number): void {
    const top = row * rowHeight;
    const seen = root.clientHeight - headHeight() - rowHeight;
    if (top < root.scrollTop) root.scrollTop = top;
    else if (top > root.scrollTop + seen) root.scrollTop = top - seen;
  }

  /** The frame that an arrow key selects; the frame itself if there is none. */
  function neighbour(frames: Frames, key: string): number {
    if (selected < 0) return childrenOf(frames, -1)[0] ?? -1;
    const parent = frames.parent[selected] as number;
    if (key === 'ArrowUp') return parent >= 0 ? parent : selected;
    if (key === 'ArrowDown') return longest(frames, childrenOf(frames, selected)) ?? selected;
    const siblings = childrenOf(frames, parent);
    const at = siblings.indexOf(selected);
    return siblings[at + (key === 'ArrowRight' ? 1 : -1)] ?? selected;
  }

  function onKey(event: KeyboardEvent): void {
    if (scene === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith('Arrow')) select(neighbour(scene.frames, event.key), false);
    else if (event.key === 'Enter' || event.key === ' ') select(selected, true);
    else if (event.key === 'Escape' || event.key === '0') setWindow(whole());
    else if (event.key === '+' || event.key === '=') zoomAt(root.clientWidth / 2, 1.5);
    else if (event.key === '-') zoomAt(root.clientWidth / 2, 1 / 1.5);
    else if (event.key === 'Home') select(childrenOf(scene.frames, -1)[0] ?? -1, false);
    else return;
    event.preventDefault();
  }

  const drag = watchDrag(root, {
    isActive: () => window.to - window.from < whole().to,
    moveBy: (pixels) => {
      const by = (pixels * (window.to - window.from)) / Math.max(root.clientWidth, 1);
      setWindow({ from: window.from - by, to: window.to - by });
    },
  });
  root.addEventListener('keydown', onKey);
  root.addEventListener('scroll', repaint, { passive: true });
  root.addEventListener('click', (event) => {
    if (drag.hasMoved()) return;
    const { frame } = placeOf(event);
    select(frame, frame >= 0);
  });
  root.addEventListener('pointermove', (event) => {
    // A finger covers what lies under it, and has chosen it as well.
    const isHovering = event.pointerType !== 'touch' && !drag.hasMoved();
    const { frame } = isHovering ? placeOf(event) : { frame: -1 };
    listener.onHover(frame, event.clientX, event.clientY);
    if (frame !== hovered) repaint();
    hovered = frame;
  });
  root.addEventListener('pointerleave', () => {
    hovered = -1;
    listener.onHover(-1, 0, 0);
    repaint();
  });
  root.addEventListener(
    'wheel',
    (event) => {
      const perPixel = (window.to - window.from) / Math.max(root.clientWidth, 1);
      if (event.ctrlKey || event.metaKey) zoomAt(placeOf(event).x, Math.exp(-event.deltaY * 0.004));
      else if (event.deltaX !== 0 || event.shiftKey) {
        const by = (event.deltaX || event.deltaY) * perPixel;
        setWindow({ from: window.from + by, to: window.to + by });
      } else return;
      event.preventDefault();
    },
    { passive: false },
  );
  const resizes = new ResizeObserver(refresh);
  resizes.observe(root);

  return {
    root,
    select,
    repaint: refresh,
    zoomTo: setWindow,
    zoomBy: (factor) => zoomAt(root.clientWidth / 2, factor),
    show(next) {
      scene = next;
      matches = undefined;
      selected = -1;
      hovered = -1;
      spacer.style.height = `${headHeight() + next.frames.rows.length * rowHeight}px`;
      root.scrollTop = 0;
      setWindow(whole());
    },
    mark(next) {
      matches = next;
      repaint();
    },
    destroy() {
      resizes.disconnect();
      cancelAnimationFrame(request);
    },
  };
}

function longest(frames: Frames, among: readonly number[]): number | undefined {
  return among.toSorted((a, b) => (frames.total[b] as number) - (frames.total[a] as number))[0];
}

interface Dragging {
  /** Whether there is anything beside what is seen. */
  readonly isActive: () => boolean;
  readonly moveBy: (pixels: number) => void;
}

/** Moves the flame graph with the pointer. What moves less than a few pixels is a click. */
function watchDrag(root: HTMLElement, { isActive, moveBy }: Dragging): { readonly hasMoved: () => boolean } {
  const slack = 4;
  let pointer: number | undefined;
  let startX = 0;
  let lastX = 0;
  let hasMoved = false;
  root.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || event.offsetX > root.clientWidth) return;
    pointer = event.pointerId;
    startX = event.clientX;
    lastX = event.clientX;
    hasMoved = false;
  });
  root.addEventListener('pointermove', (event) => {
    if (event.pointerId !== pointer || !isActive()) return;
    if (!hasMoved && Math.abs(event.clientX - startX) < slack) return;
    if (!hasMoved) root.setPointerCapture(event.pointerId);
    hasMoved = true;
    moveBy(event.clientX - lastX);
    lastX = event.clientX;
  });
  const end = () => {
    pointer = undefined;
    // The click that follows is a part of it.
    setTimeout(() => {
      hasMoved = false;
    });
  };
  root.addEventListener('pointerup', end);
  root.addEventListener('pointercancel', end);
  return { hasMoved: () => hasMoved };
}
