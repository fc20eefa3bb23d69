import type { BindingList } from './bindings.ts';
import { demandContentAddress } from './content-address.ts';
import { createContents } from './contents.ts';
import { ClientError, invalidArgument } from './errors.ts';
import { type ClientEvents, type ClientEventType, createEmitter, type ListKey } from './events.ts';
import { createHealth } from './health.ts';
import { createKeptStore } from './kept-store.ts';
import { createLists, type ListAnswer, type ListOptions } from './lists.ts';
import { createModules } from './modules.ts';
import { createNews } from './news.ts';
import { type ClientOptions, readOptions } from './options.ts';
import { createPlugins, type LoadedPlugin } from './plugins.ts';
import { createRequester } from './requester.ts';
import { createTransport } from './transport.ts';
import { type WarmUpKey, type WarmUpOptions, type WarmUpReport, warmUp } from './warm-up.ts';

/** What a host application asks for the plugins of its guests. Everything it rejects with is a {@link ClientError}. */
export interface Client {
  /**
   * The plugins that are bound to a guest key, by name; empty when there are none.
   *
   * @param guestKey the application's own name for the guest
   */
  bindings(extensionPointId: string, guestKey: string, options?: ListOptions): Promise<BindingList>;
  /** The same, with how sure one can be of it. */
  lookUp(extensionPointId: string, guestKey: string, options?: ListOptions): Promise<ListAnswer>;
  /** A plugin's bytes, checked against their address; the caller's own copy. */
  content(
    contentAddress: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * A compiled plugin.
   *
   * @param name of several plugins; without it, the one that changed last
   * @throws ClientError `no_plugin` when there is none, `invalid_module` when this engine can't compile it
   */
  load(extensionPointId: string, guestKey: string, name?: string, options?: ListOptions): Promise<WebAssembly.Module>;
  /** The same, with its binding and how sure one can be of it. */
  loadPlugin(extensionPointId: string, guestKey: string, name?: string, options?: ListOptions): Promise<LoadedPlugin>;
  /** Gets what will be asked for, several keys at a time. That one of them fails is told in the report. */
  warmUp(keys: Iterable<WarmUpKey>, options?: WarmUpOptions): Promise<WarmUpReport>;
  /** Listens to what the client tells while it works; the answer ends that. */
  on<T extends ClientEventType>(type: T, listener: (event: ClientEvents[T]) => void): () => void;
  /** Ends what is under way (`closed`), and waits until the store has what it was given. May be called again. */
  close(): Promise<void>;
}

/** @throws ClientError `invalid_option`, which names the option */
export function createClient(options: ClientOptions): Client {
  const settings = readOptions(options);
  const events = createEmitter();
  const health = createHealth(settings);
  const transport = createTransport(settings, events);
  const requester = createRequester(settings, transport, health);
  const kept = createKeptStore(settings, events);
  const lists = createLists({ settings, events, requester, health, kept });
  const contents = createContents({ settings, events, requester, kept });
  const modules = createModules(settings, events, contents);
  const plugins = createPlugins({ settings, events, lists, modules });
  const news = createNews({ settings, events, transport, receiver: lists });
  lists.useNews(news);
  let isClosed = false;

  function demandOpen(): void {
    if (isClosed) throw closed();
  }

  function listKey(extensionPointId: string, guestKey: string): ListKey {
    demandOpen();
    if (typeof extensionPointId !== 'string' || !/^[A-Za-z0-9_-]+$/.test(extensionPointId)) {
      throw invalidArgument('An extension point id has letters, digits, "_" and "-"');
    }
    // These two would be taken as steps in the path, by the URL's own rules.
    if (typeof guestKey !== 'string' || ['', '.', '..'].includes(guestKey) || !guestKey.isWellFormed()) {
      throw invalidArgument('A guest key is well-formed text, and neither empty nor "." nor ".."');
    }
    return { extensionPointId, guestKey };
  }

  return {
    async bindings(extensionPointId, guestKey, options = {}) {
      return (await lists.lookUp(listKey(extensionPointId, guestKey), options)).list;
    },
    async lookUp(extensionPointId, guestKey, options = {}) {
      return lists.lookUp(listKey(extensionPointId, guestKey), options);
    },
    async content(contentAddress, { signal } = {}) {
      demandOpen();
      demandContentAddress(contentAddress);
      return (await contents.read(contentAddress, signal)).slice();
    },
    async load(extensionPointId, guestKey, name, options = {}) {
      const key = listKey(extensionPointId, guestKey);
      return plugins.loadNow(key, name, options) ?? (await plugins.load(key, name, options)).module;
    },
    async loadPlugin(extensionPointId, guestKey, name, options = {}) {
      return plugins.load(listKey(extensionPointId, guestKey), name, options);
    },
    async warmUp(keys, options = {}) {
      const checked = Array.from(keys, ({ extensionPointId, guestKey, name }) => {
        return { ...listKey(extensionPointId, guestKey), name };
      });
      return warmUp({ events, lists, contents, modules }, checked, options);
    },
    on: events.on,
    async close() {
      isClosed = true;
      news.close();
      for (const part of [lists, contents, modules]) part.endAll(closed());
      await kept?.settled();
    },
  };
}

function closed(): ClientError {
  return new ClientError('closed', 'The client was closed');
}
