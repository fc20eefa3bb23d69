import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { preambleFault } from '../../guest/check-module.ts';
import { fetchDemangler } from '../fetch-demangler.ts';
import { type Looker, startLooker } from './looker.ts';
import type { OpenedModule } from './open-module.ts';

/** A module that was looked at, and the worker that knows it. */
export interface Subject extends OpenedModule {
  readonly fileName: string;
  /** The module as it was when it was opened; workers get copies. */
  readonly bytes: ArrayBuffer;
  /** The module of the demangler, which workers get too. */
  readonly demangler: ArrayBuffer | undefined;
  readonly looker: Looker;
}

export type ModuleState =
  | { readonly name: 'empty'; readonly fault?: string }
  | { readonly name: 'looking'; readonly fileName: string }
  | { readonly name: 'open'; readonly subject: Subject };

/** The module that the page is about, if any. Its worker ends with it. */
export function useModule(): {
  readonly state: ModuleState;
  open(files: readonly File[]): void;
  close(): void;
} {
  const [state, setState] = useState<ModuleState>({ name: 'empty' });
  const looker = useRef<Looker>(undefined);
  const end = (): void => {
    looker.current?.end();
    looker.current = undefined;
  };
  const demangler = useRef<Promise<ArrayBuffer | undefined>>(undefined);
  useEffect(() => {
    demangler.current = fetchDemangler();
    return end;
  }, []);

  const open = async (files: readonly File[]): Promise<void> => {
    end();
    const [file] = files;
    if (file === undefined) return;
    if (files.length > 1) return setState({ name: 'empty', fault: 'Drop one file at a time.' });
    const started = startLooker();
    looker.current = started;
    setState({ name: 'looking', fileName: file.name });
    const next = await look(file, started, await demangler.current);
    if (looker.current !== started) return; // another file has come meanwhile, or nobody waits any more
    if (next.name === 'empty') end();
    setState(next);
  };
  return {
    state,
    open: useCallback((files) => void open(files), []),
    close: useCallback(() => {
      end();
      setState({ name: 'empty' });
    }, []),
  };
}

async function look(file: File, looker: Looker, demangler: ArrayBuffer | undefined): Promise<ModuleState> {
  try {
    // The beginning first: who drops a film by mistake need not wait until it is read.
    const fault = preambleFault(new Uint8Array(await file.slice(0, 8).arrayBuffer()));
    if (fault !== undefined) return { name: 'empty', fault };
    const bytes = await file.arrayBuffer();
    const opened = await looker.ask({ kind: 'open', bytes, demangler });
    return { name: 'open', subject: { ...opened, fileName: file.name, bytes, demangler, looker } };
  } catch (error) {
    if (error instanceof DOMException) {
      return { name: 'empty', fault: 'The browser can’t read it. It may be a folder, too large, or gone by now.' };
    }
    return { name: 'empty', fault: sentence(error) };
  }
}

function sentence(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? '' : '.'}`;
}
