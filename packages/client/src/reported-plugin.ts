import type { Plugin } from '@extism/extism';
import type { Client } from './client.ts';
import type { PluginKey } from './events.ts';
import type { CallOptions } from './lists.ts';

/** What loads modules: a client. Without the optional members, or without its option `reports`, no calls are reported. */
export type PluginSource = Pick<Client, 'load'> & Partial<Pick<Client, 'loadPlugin' | 'record' | 'isReporting'>>;

/** A module, and what reports the calls of its instances. */
interface ReportedModule {
  readonly module: WebAssembly.Module;
  /** Returns the plugin, or one whose calls are reported. */
  readonly report: (plugin: Plugin) => Plugin;
}

/** @throws ClientError as {@link Client.load} does */
export async function loadReported(
  client: PluginSource,
  key: PluginKey,
  options: CallOptions = {},
): Promise<ReportedModule> {
  if (client.isReporting !== true || client.loadPlugin === undefined) {
    return { module: await client.load(key, options), report: (plugin) => plugin };
  }
  const { module, id, contentAddress } = await client.loadPlugin(key, options);
  return { module, report: (plugin) => reportCalls(plugin, client, { id, contentAddress }) };
}

function reportCalls(
  plugin: Plugin,
  client: PluginSource,
  { id, contentAddress }: { readonly id: string; readonly contentAddress: string },
): Plugin {
  let memory: Promise<WebAssembly.Memory | undefined> | undefined;
  const record = async (durationMs: number, hasFailed: boolean): Promise<void> => {
    memory ??= memoryOf(plugin);
    const memoryBytes = (await memory)?.buffer.byteLength;
    try {
      client.record?.({ id, contentAddress, durationMs, hasFailed, memoryBytes });
    } catch {
      // A report fails no call.
    }
  };
  const call: Plugin['call'] = async (name, input) => {
    const startedMs = performance.now();
    let hasFailed = true;
    try {
      const output = await plugin.call(name, input);
      hasFailed = false;
      return output;
    } finally {
      await record(performance.now() - startedMs, hasFailed);
    }
  };
  return new Proxy(plugin, {
    get(target, property) {
      if (property === 'call') return call;
      const value: unknown = Reflect.get(target, property);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** The memory that the module exports. A plugin in a worker has none that its caller can see. */
async function memoryOf(plugin: Plugin): Promise<WebAssembly.Memory | undefined> {
  try {
    const { memory } = (await plugin.getInstance()).exports;
    return memory instanceof WebAssembly.Memory ? memory : undefined;
  } catch {
    return undefined;
  }
}
