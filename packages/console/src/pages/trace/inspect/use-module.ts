import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { preambleFault } from '../../guest/check-module.ts';
import { fetchDemangler } from '../fetch-demangler.ts';
import { type Inspector, startInspector } from './inspector.ts';
import type { OpenedModule } from './open-module.ts';

/** An inspected module, and its worker. */
export interface LoadedModule extends OpenedModule {
  readonly fileName: string;
  /** Workers get copies. */
  readonly bytes: ArrayBuffer;
  /** The demangler's module, for workers. */
  readonly demangler: ArrayBuffer | undefined;
  readonly inspector: Inspector;
}

export type ModuleState =
  | { readonly name: 'empty'; readonly fault?: string }
  | { readonly name: 'opening'; readonly fileName: string }
  | { readonly name: 'open'; readonly loaded: LoadedModule };

/** The page's module, if any. Its worker ends with it. */
export function useModule(): {
  readonly state: ModuleState;
  open(files: readonly File[]): void;
  close(): void;
} {
  const [state, setState] = useState<ModuleState>({ name: 'empty' });
  const inspector = useRef<Inspector>(undefined);
  const end = (): void => {
    inspector.current?.end();
    inspector.current = undefined;
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
    const started = startInspector();
    inspector.current = started;
    setState({ name: 'opening', fileName: file.name });
    const next = await inspect(file, started, await demangler.current);
    if (inspector.current !== started) return; // closed, or another file was opened
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

async function inspect(file: File, inspector: Inspector, demangler: ArrayBuffer | undefined): Promise<ModuleState> {
  try {
    // The preamble first, so that a large file of another type fails at once.
    const fault = preambleFault(new Uint8Array(await file.slice(0, 8).arrayBuffer()));
    if (fault !== undefined) return { name: 'empty', fault };
    const bytes = await file.arrayBuffer();
    const opened = await inspector.ask({ kind: 'open', bytes, demangler });
    return { name: 'open', loaded: { ...opened, fileName: file.name, bytes, demangler, inspector } };
  } catch (error) {
    if (error instanceof DOMException) {
      return { name: 'empty', fault: 'The browser can’t read the file. It may be a folder, too large, or deleted.' };
    }
    return { name: 'empty', fault: sentence(error) };
  }
}

function sentence(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? '' : '.'}`;
}
