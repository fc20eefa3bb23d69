import { createStore, type Store } from './store.ts';

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'done' | 'failed';
  /** Reverses what was done. */
  readonly undo?: (() => Promise<void>) | undefined;
}

/** Short messages about what just happened. */
export interface Toasts {
  readonly list: Store<readonly Toast[]>;
  show(text: string, kind?: Toast['kind'], undo?: Toast['undo']): void;
  dismiss(id: number): void;
  /** Keeps a toast until {@link resume}, which starts its time again. */
  hold(id: number): void;
  resume(id: number): void;
}

const shownForMs = 6_000;
/** To read it, and to reach the button. */
const undoableForMs = 20_000;
const maxShown = 4;

export function createToasts(): Toasts {
  const list = createStore<readonly Toast[]>([]);
  const timers = new Map<number, ReturnType<typeof setTimeout>>();
  let nextId = 1;
  const hold = (id: number): void => clearTimeout(timers.get(id));
  const dismiss = (id: number): void => {
    hold(id);
    timers.delete(id);
    list.set(list.get().filter((toast) => toast.id !== id));
  };
  const resume = (id: number): void => {
    hold(id);
    const toast = list.get().find((one) => one.id === id);
    if (toast === undefined) return;
    timers.set(
      id,
      setTimeout(() => dismiss(id), toast.undo === undefined ? shownForMs : undoableForMs),
    );
  };
  return {
    list,
    dismiss,
    hold,
    resume,
    show(text, kind = 'done', undo) {
      const id = nextId++;
      for (const { id: oldest } of list.get().slice(0, 1 - maxShown)) dismiss(oldest);
      list.set([...list.get(), { id, text, kind, undo }]);
      resume(id);
    },
  };
}
