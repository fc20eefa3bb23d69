import { createStore, type Store } from './store.ts';

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'done' | 'failed';
}

/** Short messages about what just happened. */
export interface Toasts {
  readonly list: Store<readonly Toast[]>;
  show(text: string, kind?: Toast['kind']): void;
  dismiss(id: number): void;
}

const shownForMs = 6_000;

export function createToasts(): Toasts {
  const list = createStore<readonly Toast[]>([]);
  let nextId = 1;
  const dismiss = (id: number): void => list.set(list.get().filter((toast) => toast.id !== id));
  return {
    list,
    dismiss,
    show(text, kind = 'done') {
      const id = nextId++;
      list.set([...list.get().slice(-3), { id, text, kind }]);
      setTimeout(() => dismiss(id), shownForMs);
    },
  };
}
