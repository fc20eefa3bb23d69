import type { DryRun } from '@tenon/protocol';
import type { ApiClient, RequestOptions } from '../../api/client.ts';

/** The request of an action that changes a plugin's bindings. */
export interface PluginAction {
  readonly method: 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly json?: object;
}

/** @returns the body of the response; `undefined` if it has none */
export async function perform(api: ApiClient, action: PluginAction): Promise<unknown> {
  const response = await send(api, action);
  return response.status === 204 ? undefined : response.json();
}

/** Returns what an action would change. The server changes nothing. */
export async function dryRun(api: ApiClient, action: PluginAction, signal: AbortSignal): Promise<DryRun> {
  const response = await send(api, action, { query: { dryRun: 'true' }, signal });
  return response.json();
}

function send(api: ApiClient, { method, path, json }: PluginAction, options: RequestOptions = {}): Promise<Response> {
  if (json === undefined) return api.send(method, path, options);
  const headers = { 'content-type': 'application/json' };
  return api.send(method, path, { ...options, headers, body: JSON.stringify(json) });
}
