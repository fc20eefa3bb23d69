import { countOf, formatShare } from '../../format.ts';
import { visible } from '../../unsafe-characters.ts';
import type { FlameGraphData } from '../data.ts';
import { findFrames, type Matches, matchingNames, totalTime } from '../find.ts';
import { type Frames, pathTo } from '../frames.ts';
import { layOutLeftHeavy } from '../left-heavy.ts';
import { layOutTimeOrder } from '../time-order.ts';
import { createBar, type View } from './bar.ts';
import { type Chart, createChart, type Scene } from './chart.ts';
import { type Description, describeFrame } from './details.ts';
import { element } from './dom.ts';
import { createFunctionTable } from './function-table.ts';
import { memoryTrack } from './memory.ts';
import { colourOf } from './palette.ts';
import { styles } from './styles.ts';

/** A flame graph that stands in a page. */
export interface MountedFlameGraph {
  /** Searches for functions, as if the user had typed it. */
  readonly search: (text: string) => void;
  /** Goes to another view. */
  readonly show: (view: View) => void;
  /** Puts the keyboard's focus on the flame graph. */
  readonly focus: () => void;
  /** Redraws; call it after a change of the page's colours that the viewer can't detect. */
  readonly repaint: () => void;
  /** Takes it away. */
  readonly destroy: () => void;
}

/** How many colours the palette has for frames. */
const frameColours = 10;

/**
 * Shows a flame graph in an element of a page, which gives it its height (20rem at least). Everything is in a shadow root, and
 * nothing is loaded: a policy that forbids inline styles and any connection does not disturb it.
 *
 * Colours and fonts can be given by custom properties: `--flame-ink`, `--flame-ground`, `--flame-accent` and the others of
 * `styles.ts`. Without, it follows the `color-scheme` of the element.
 */
export function mountFlameGraph(host: HTMLElement, data: FlameGraphData): MountedFlameGraph {
  const place = element('div');
  const shadow = place.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  shadow.adoptedStyleSheets = [sheet];
  const timeOrder = layOutTimeOrder(data);
  const layouts = { 'time-order': timeOrder, 'left-heavy': layOutLeftHeavy(data) };
  const wholeNano = totalTime(timeOrder);
  const labels = data.names.map((name) => visible(name).slice(0, 400));
  const colours = Int32Array.from(data.names, (name) => colourOf(name, frameColours));
  const memory = memoryTrack(data, timeOrder);

  const viewer = element('div', {
    class: 'viewer',
    role: 'group',
    'aria-label': `Flame graph: ${visible(data.title)}`,
  });
  const path = element('nav', { class: 'path', 'aria-label': 'Callers' });
  const details = element('div', { class: 'details', role: 'status', tabindex: '0', 'aria-label': 'The chosen call' });
  const tip = element('div', { class: 'tip', hidden: true, 'aria-hidden': 'true' });
  let view: View = 'time-order';
  let matches: Matches | undefined;
  let foundFrames: number[] = [];
  let foundAt = -1;

  const frames = (): Frames => layouts[view === 'left-heavy' ? 'left-heavy' : 'time-order'];
  const describe = (frame: number) => describeFrame(data, frames(), frame, wholeNano, view === 'left-heavy');

  const chart: Chart = createChart(viewer, {
    onSelect(frame) {
      showPath(frame);
      showDetails(frame);
    },
    onHover(frame, x, y) {
      tip.hidden = frame < 0;
      if (frame < 0) return;
      tip.replaceChildren(...descriptionNodes(describe(frame)));
      const { width, height } = tip.getBoundingClientRect();
      tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 8))}px`;
      tip.style.top = `${y + 18 + height > innerHeight ? Math.max(4, y - height - 10) : y + 18}px`;
    },
    onWindow: (window) => bar.setZoomed(window.to - window.from < frames().extent),
  });
  const table = createFunctionTable(data, wholeNano, (name) => {
    setView('left-heavy');
    bar.setSearch(data.names[name] as string);
    search(data.names[name] as string);
    step(1);
  });
  const bar = createBar({
    onView: setView,
    onSearch: search,
    onStep: step,
    onZoom: (factor) => chart.zoomBy(factor),
    onWhole: () => chart.zoomTo({ from: 0, to: frames().extent }),
    onLeaveSearch: () => chart.root.focus(),
  });

  function showPath(frame: number): void {
    const all = element('button', { type: 'button' }, 'all');
    all.addEventListener('click', () => {
      chart.zoomTo({ from: 0, to: frames().extent });
      chart.select(-1, false);
    });
    const steps = pathTo(frames(), frame);
    // Recursion may be thousands deep.
    const shown = steps.length <= 12 ? steps : [...steps.slice(0, 4), -1, ...steps.slice(-7)];
    const nodes = shown.flatMap((at): (Node | string)[] => {
      if (at === -1) return [element('span', {}, ' › … ')];
      const button = element('button', { type: 'button' }, labels[frames().name[at] as number] as string);
      button.addEventListener('click', () => chart.select(at, true));
      return [element('span', { 'aria-hidden': 'true' }, '›'), button];
    });
    path.replaceChildren(all, ...nodes);
    path.scrollLeft = path.scrollWidth;
  }

  function showDetails(frame: number): void {
    if (frame >= 0) details.replaceChildren(...descriptionNodes(describe(frame)));
    else details.replaceChildren(element('p', {}, summary()), element('p', {}, hint));
  }

  function summary(): string {
    const spans = countOf(data.name.length, 'span');
    const functions = countOf(data.names.length, 'function');
    return `${spans} of ${functions}.${gapsInWords()}`;
  }

  function gapsInWords(): string {
    const gaps = view === 'time-order' ? timeOrder.collapsedGaps.length : 0;
    if (gaps === 0) return '';
    return gaps === 1
      ? ' A pause between calls is shortened (dashed line).'
      : ` ${gaps} pauses between calls are shortened (dashed lines).`;
  }

  function setView(next: View): void {
    view = next;
    bar.setView(next);
    const isTable = next === 'functions';
    for (const part of [chart.root, path, details]) part.hidden = isTable;
    table.root.hidden = !isTable;
    tip.hidden = true;
    if (!isTable) {
      const scene: Scene = {
        frames: frames(),
        labels,
        colours,
        collapsedGaps: next === 'time-order' ? timeOrder.collapsedGaps : [],
        memory: next === 'time-order' ? memory : undefined,
      };
      chart.show(scene);
      showPath(-1);
      showDetails(-1);
    }
    search(bar.searched());
  }

  function search(text: string): void {
    const wanted = text.trim();
    const isNameMatch = wanted === '' ? undefined : matchingNames(data, wanted);
    table.filter(isNameMatch);
    matches = isNameMatch && findFrames(frames(), isNameMatch);
    foundFrames = [];
    foundAt = -1;
    chart.mark(matches);
    if (matches === undefined) bar.setFound(undefined, false);
    else {
      const share = formatShare(matches.timeNano, wholeNano);
      bar.setFound(`${countOf(matches.calls, 'span')}, ${share} of the time`, matches.frames > 0);
    }
  }

  /** Goes to the next frame that was found, or the one before. */
  function step(by: 1 | -1): void {
    if (matches === undefined || matches.frames === 0) return;
    const { isMatch } = matches;
    if (foundFrames.length === 0) foundFrames = byPlace(frames(), isMatch);
    foundAt = (foundAt + by + foundFrames.length + (foundAt < 0 && by < 0 ? 1 : 0)) % foundFrames.length;
    chart.select(foundFrames[foundAt] as number, false);
  }

  viewer.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    bar.focusSearch();
  });
  viewer.append(bar.root, path, chart.root, table.root, details, tip);
  shadow.append(viewer);
  place.style.height = '100%';
  host.append(place);
  const stopWatching = watchColours(chart.repaint);
  setView('time-order');
  return {
    show: setView,
    repaint: chart.repaint,
    focus: () => chart.root.focus(),
    search(text) {
      bar.setSearch(text);
      search(text);
    },
    destroy() {
      stopWatching();
      chart.destroy();
      place.remove();
    },
  };
}

const hint =
  'Click a call to zoom in; Ctrl and the wheel zoom, dragging moves. Keys: arrows go to callers, callees and neighbours, Enter zooms, Escape shows all, / searches.';

function byPlace(frames: Frames, isMatch: Uint8Array): number[] {
  const found: number[] = [];
  for (let frame = 0; frame < frames.count; frame++) if (isMatch[frame] === 1) found.push(frame);
  return found.sort(
    (a, b) =>
      (frames.from[a] as number) - (frames.from[b] as number) || (frames.row[a] as number) - (frames.row[b] as number),
  );
}

function descriptionNodes({ name, stats, failure }: Description): Node[] {
  const list = stats.map(([term, value]) => element('div', {}, element('dt', {}, term), element('dd', {}, value)));
  const nodes: Node[] = [element('h3', {}, name), element('dl', {}, ...list)];
  if (failure !== undefined) nodes.push(element('p', { class: 'failure' }, failure));
  return nodes;
}

/** Calls back when the page's colour scheme changes, by the system's setting or an attribute of the page. */
function watchColours(onChange: () => void): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const attributes = new MutationObserver(onChange);
  dark.addEventListener('change', onChange);
  attributes.observe(document.documentElement, { attributeFilter: ['class', 'style', 'data-theme'] });
  return () => {
    dark.removeEventListener('change', onChange);
    attributes.disconnect();
  };
}
