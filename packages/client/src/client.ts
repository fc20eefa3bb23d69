/// <reference lib="esnext.disposable" preserve="true" />
import { createCallReports, type PluginCall } from './call-reports.ts';
import { createChangeStreams } from './change-streams.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { assertContentAddress } from './content-address.ts';
import { createContents } from './contents.ts';
import { ClientError, invalidArgument } from './errors.ts';
import { type BindingsKey, type ClientEvents, type ClientEventType, createEmitter, type PluginKey } from './events.ts';
import { createLastLoaded } from './last-loaded.ts';
import { type BindingsResult, type CallOptions, createLists } from './lists.ts';
import { createModules } from './modules.ts';
import { type ClientOptions, type Runtime, readOptions } from './options.ts';
import { createPlugins, type LoadedPlugin } from './plugins.ts';
import { createProvenances } from './provenances.ts';
import { createRequester } from './requester.ts';
import { createTransport } from './transport.ts';
import { createVerifiedStore } from './verified-store.ts';
import { type WarmUpOptions, type WarmUpReport, warmUp } from './warm-up.ts';

/** Fetches the plugins that are bound to an application's guests. Every rejection is a {@link ClientError}. */
export interface Client extends AsyncDisposable {
  /** The bindings of a guest key, by plugin name. It is empty for a key without plugins. */
  getBindings(key: BindingsKey, options?: CallOptions): Promise<BindingsResult>;
  /** A plugin's bytes, checked against their address. The caller owns the returned copy. */
  getContent(
    contentAddress: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * A compiled plugin. Without `name`, the one that changed last.
   *
   * @throws ClientError `no_plugin` if none is bound, `invalid_module` if this engine can't compile it, `provenance_failed` or
   *   `provenance_absent` if `verify` is `require`
   */
  load(key: PluginKey, options?: CallOptions): Promise<WebAssembly.Module>;
  /** Like {@link load}, with the binding, its age, whether it is stale, and its provenance. */
  loadPlugin(key: PluginKey, options?: CallOptions): Promise<LoadedPlugin>;
  /** Loads plugins ahead of their use, several keys at a time. The report lists the keys that failed. */
  warmUp(keys: Iterable<PluginKey>, options?: WarmUpOptions): Promise<WarmUpReport>;
  /**
   * Adds a call to the next report. Without the option `reports`, it does nothing. `createExtismPlugin()` calls it itself.
   *
   * @throws ClientError `invalid_argument`
   */
  record(call: PluginCall): void;
  /** Whether calls are reported. */
  readonly isReporting: boolean;
  /** Adds a listener. Returns a function that removes it. */
  on<T extends ClientEventType>(type: T, listener: (event: ClientEvents[T]) => void): () => void;
  /** Rejects the calls in progress (`closed`) and waits for the last report and for pending writes to the store. May be called again. */
  close(): Promise<void>;
}

/** @throws ClientError `invalid_option`, which names the option */
export function createClient(options: ClientOptions): Client {
  return createClientOn(options, {});
}

/** For tests: a client with another clock or another source of random numbers. */
export function createClientOn(options: ClientOptions, runtime: Partial<Runtime>): Client {
  const settings = readOptions(options, runtime);
  const events = createEmitter();
  const breaker = createCircuitBreaker(settings);
  const transport = createTransport(settings, events);
  const requester = createRequester(settings, transport, breaker);
  const store = createVerifiedStore(settings, events);
  const lastLoaded = createLastLoaded(settings.memory.maxLists);
  const lists = createLists({ settings, events, requester, breaker, store, lastLoaded });
  const contents = createContents({ settings, events, requester, store });
  const modules = createModules(settings, events, contents);
  const provenances = createProvenances({ settings, events, requester, breaker, store });
  const plugins = createPlugins({ settings, events, lists, modules, provenances, lastLoaded });
  const changes = createChangeStreams({ settings, events, transport, receiver: lists });
  lists.useChanges(changes);
  const reports = createCallReports({ settings, events, transport });
  let isClosed = false;

  function assertOpen(): void {
    if (isClosed) throw closed();
  }

  function checkKey(key: PluginKey): PluginKey {
    assertOpen();
    const { extensionPointId, guestKey, name } = Object(key) as PluginKey;
    if (typeof extensionPointId !== 'string' || !/^[A-Za-z0-9_-]+$/.test(extensionPointId)) {
      throw invalidArgument('`extensionPointId` must consist of letters, digits, "_" and "-"');
    }
    // URLs resolve "." and ".." as path steps.
    if (typeof guestKey !== 'string' || ['', '.', '..'].includes(guestKey) || !guestKey.isWellFormed()) {
      throw invalidArgument('`guestKey` must be well-formed text other than "", "." and ".."');
    }
    if (name !== undefined && typeof name !== 'string') throw invalidArgument('`name` must be a string');
    return { extensionPointId, guestKey, name };
  }

  async function close(): Promise<void> {
    isClosed = true;
    changes.close();
    for (const part of [lists, contents, modules, provenances]) part.abortAll(closed());
    await Promise.all([reports.close(), store?.settled()]);
  }

  return {
    async getBindings(key, options = {}) {
      return lists.get(checkKey(key), options);
    },
    async getContent(contentAddress, { signal } = {}) {
      assertOpen();
      assertContentAddress(contentAddress);
      return (await contents.read(contentAddress, signal)).slice();
    },
    async load(key, options = {}) {
      const checked = checkKey(key);
      return plugins.getCached(checked, options) ?? (await plugins.load(checked, options)).module;
    },
    async loadPlugin(key, options = {}) {
      return plugins.load(checkKey(key), options);
    },
    async warmUp(keys, options = {}) {
      return warmUp({ events, lists, contents, modules, provenances }, Array.from(keys, checkKey), options);
    },
    record: reports.record,
    isReporting: reports.isOn,
    on: events.on,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function closed(): ClientError {
  return new ClientError('closed', 'The client was closed');
}
