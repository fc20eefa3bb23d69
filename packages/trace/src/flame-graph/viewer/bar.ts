import { element } from './dom.ts';

/** The ways to look at a trace. */
export type View = 'time-order' | 'left-heavy' | 'functions';

const views: readonly (readonly [View, string, string])[] = [
  ['time-order', 'Time order', 'Every call when it was made'],
  ['left-heavy', 'Left heavy', 'Calls along the same path as one: where the time went'],
  ['functions', 'Functions', 'All functions as a table'],
];

export interface BarListener {
  readonly onView: (view: View) => void;
  readonly onSearch: (text: string) => void;
  /** To the next thing found, or the one before. */
  readonly onStep: (by: 1 | -1) => void;
  readonly onZoom: (factor: number) => void;
  /** To show everything. */
  readonly onWhole: () => void;
  readonly onLeaveSearch: () => void;
}

/** The row of controls. */
export interface Bar {
  readonly root: HTMLElement;
  readonly setView: (view: View) => void;
  readonly setSearch: (text: string) => void;
  readonly searched: () => string;
  readonly focusSearch: () => void;
  readonly setFound: (text: string | undefined, hasSteps: boolean) => void;
  readonly setZoomed: (isZoomed: boolean) => void;
}

export function createBar(listener: BarListener): Bar {
  const button = (label: string, title: string, onClick: () => void) => {
    const made = element('button', { type: 'button', title, 'aria-label': title }, label);
    made.addEventListener('click', onClick);
    return made;
  };
  const viewButtons = views.map(([view, label, title]) => {
    const made = element('button', { type: 'button', title, 'aria-pressed': 'false' }, label);
    made.addEventListener('click', () => listener.onView(view));
    return { view, made };
  });
  const search = element('input', {
    type: 'search',
    placeholder: 'Search functions',
    'aria-label': 'Search functions',
    spellcheck: 'false',
    autocomplete: 'off',
  });
  const found = element('output', { class: 'found' });
  const before = button('‹', 'The one before', () => listener.onStep(-1));
  const next = button('›', 'The next one', () => listener.onStep(1));
  const zoomIn = button('+', 'Zoom in', () => listener.onZoom(1.5));
  const zoomOut = button('−', 'Zoom out', () => listener.onZoom(1 / 1.5));
  const whole = button('Show all', 'Show all', listener.onWhole);
  search.addEventListener('input', () => listener.onSearch(search.value));
  search.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') listener.onStep(event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape' && search.value === '') listener.onLeaveSearch();
    else return;
    event.preventDefault();
  });
  const root = element(
    'div',
    { class: 'bar' },
    element('div', { class: 'views', role: 'group', 'aria-label': 'View' }, ...viewButtons.map(({ made }) => made)),
    element('div', { class: 'search', role: 'search' }, search, before, next, found),
    zoomOut,
    zoomIn,
    whole,
  );
  return {
    root,
    searched: () => search.value,
    focusSearch: () => search.select(),
    setView(view) {
      for (const { view: own, made } of viewButtons) made.setAttribute('aria-pressed', String(own === view));
      for (const made of [zoomIn, zoomOut, whole]) made.hidden = view === 'functions';
    },
    setSearch(text) {
      search.value = text;
    },
    setFound(text, hasSteps) {
      found.textContent = text ?? '';
      for (const made of [before, next]) {
        made.hidden = text === undefined;
        made.disabled = !hasSteps;
      }
    },
    setZoomed(isZoomed) {
      whole.disabled = !isZoomed;
      zoomOut.disabled = !isZoomed;
    },
  };
}
