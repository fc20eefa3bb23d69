import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ApiClient } from '../../../api/client.ts';
import { useApi } from '../../../state/services.ts';
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

/** @typeParam View what shows an open module */
export type ModuleState<View> =
  | { readonly name: 'empty'; readonly fault?: string }
  | { readonly name: 'opening'; readonly fileName: string }
  | { readonly name: 'open'; readonly loaded: LoadedModule; readonly View: View };

/** A plugin's module. */
export interface ModuleSource {
  readonly contentAddress: string;
  readonly fileName: string;
}

/**
 * The page's module, if any. Its worker ends with it.
 *
 * @param loadView called at once, and again for each module
 * @param source the module to open first
 */
export function useModule<View>(
  loadView: () => Promise<View>,
  source?: ModuleSource,
): {
  readonly state: ModuleState<View>;
  open(files: readonly File[]): void;
  close(): void;
} {
  const [state, setState] = useState<ModuleState<View>>({ name: 'empty' });
  const inspector = useRef<Inspector>(undefined);
  const end = (): void => {
    inspector.current?.end();
    inspector.current = undefined;
  };
  const demangler = useRef<Promise<ArrayBuffer | undefined>>(undefined);
  const api = useApi();
  useEffect(() => {
    demangler.current = fetchDemangler();
    loadView().catch(() => {}); // before a module is opened; opening one reports the error
    if (source !== undefined) void load(source.fileName, () => fetchModule(api, source));
    return end;
  }, [source?.contentAddress]);

  const open = async (files: readonly File[]): Promise<void> => {
    const [file] = files;
    if (file === undefined) return;
    if (files.length === 1) return load(file.name, () => readFile(file));
    end();
    setState({ name: 'empty', fault: 'Drop one file at a time.' });
  };
  const load = async (fileName: string, read: () => Promise<ArrayBuffer>): Promise<void> => {
    end();
    const started = startInspector();
    inspector.current = started;
    setState({ name: 'opening', fileName });
    const next = await inspect(fileName, read, started, await demangler.current, loadView);
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

async function inspect<View>(
  fileName: string,
  read: () => Promise<ArrayBuffer>,
  inspector: Inspector,
  demangler: ArrayBuffer | undefined,
  loadView: () => Promise<View>,
): Promise<ModuleState<View>> {
  try {
    const bytes = await read();
    const opened = await inspector.ask({ kind: 'open', bytes, demangler });
    const View = await loadView();
    return { name: 'open', loaded: { ...opened, fileName, bytes, demangler, inspector }, View };
  } catch (error) {
    return { name: 'empty', fault: sentence(error) };
  }
}

/** @throws Error with a message for people */
async function readFile(file: File): Promise<ArrayBuffer> {
  try {
    // The preamble first, so that a large file of another type fails at once.
    const fault = preambleFault(new Uint8Array(await file.slice(0, 8).arrayBuffer()));
    if (fault === undefined) return await file.arrayBuffer();
    throw new Error(fault);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    throw new Error('The browser can’t read the file. It may be a folder, too large, or deleted.', { cause: error });
  }
}

async function fetchModule(api: ApiClient, { contentAddress }: ModuleSource): Promise<ArrayBuffer> {
  const path = `/api/v1/c/${encodeURIComponent(contentAddress)}`;
  const response = await api.send('GET', path, { headers: { accept: 'application/wasm' } });
  return response.arrayBuffer();
}

function sentence(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? '' : '.'}`;
}
