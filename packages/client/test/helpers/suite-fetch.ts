import { type Client, ClientError, createClient } from '@tenon/client';
import { addressOf } from './numbered-module.ts';

/** The part of the client that a case tests: lists with `maxAgeMs: 0`, or contents. */
export type Layer = 'list' | 'content';

/**
 * A `fetch` for the suite's cases that goes through a client: it requests the list of a guest key that is the case's path, or a content
 * whose address is the digest of the case's response.
 *
 * Below the client, responses are unchanged except for the body: a list has an entry with the number of the response. The suite gets the
 * header fields of that response, since the client doesn't return any.
 */
export function suiteFetch(suiteUrl: string, layerOf: (id: string) => Layer): typeof fetch {
  const clients = new Map<
    string,
    { readonly client: Client; fields: [string, string][]; readonly answers: Map<string, Response> }
  >();

  const ask = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const path = url.slice(suiteUrl.length);
    if (!path.startsWith('/test/')) return fetch(url, init);
    const fields = init.headers as [string, string][];
    const id = fields.find(([name]) => name === 'Test-ID')?.[1] ?? '';
    const layer = layerOf(id);
    const uuid = path.split(/[/?]/)[2] ?? '';
    const state = clients.get(uuid) ?? open(uuid, layer);
    state.fields = fields;
    try {
      return layer === 'content' ? await content(state, uuid) : await list(state, path);
    } catch (error) {
      const refused = state.answers.get('refused');
      if (error instanceof ClientError && error.status !== undefined && refused !== undefined) return refused;
      throw error;
    }
  };
  return ask as typeof fetch;

  function open(uuid: string, layer: Layer) {
    const answers = new Map<string, Response>();
    const client = createClient({
      baseUrl: 'http://client.test',
      token: 'a-token',
      maxAgeMs: 0,
      streaming: false,
      retry: { maxRetries: 0, baseDelayMs: 0 },
      fetch: async (input, init) => {
        const { authorization: _, ...own } = { ...init?.headers } as Record<string, string>;
        const asked = new URL(String(input)).pathname;
        const target =
          layer === 'content' ? `/test/${uuid}` : decodeURIComponent(asked.slice(asked.lastIndexOf('/') + 1));
        const headers = [...state.fields, ...Object.entries(own)] as [string, string][];
        const response = await fetch(suiteUrl + target, { ...init, headers });
        if (!response.ok) {
          answers.set('refused', response.clone());
          return response;
        }
        const number = response.headers.get('server-request-count') ?? '';
        answers.set(number, response.clone());
        if (layer === 'content') return response;
        const entry = {
          id: number,
          contentAddress: addressOf(Buffer.from(number)),
          updatedAt: '2026-05-17T09:30:15.123Z',
        };
        const { headers: sent, status, statusText } = response;
        const fields = [...sent].filter(([name]) => name !== 'content-length');
        const body = status === 204 ? null : JSON.stringify({ [number]: entry });
        return new Response(body, { status, statusText, headers: fields });
      },
    });
    const state = { client, fields: [] as [string, string][], answers };
    clients.set(uuid, state);
    return state;
  }

  async function list({ client, answers }: ReturnType<typeof open>, path: string): Promise<Response> {
    const { bindings: list } = await client.getBindings({ extensionPointId: 'ext_suite', guestKey: path });
    const [number = ''] = Object.keys(list);
    return answers.get(number)?.clone() ?? Response.error();
  }

  async function content({ client, answers }: ReturnType<typeof open>, uuid: string): Promise<Response> {
    const bytes = await client.getContent(addressOf(Buffer.from(uuid)));
    const answer = [...answers.values()].at(-1);
    return new Response(bytes, { status: answer?.status ?? 200, headers: [...(answer?.headers ?? [])] });
  }
}
