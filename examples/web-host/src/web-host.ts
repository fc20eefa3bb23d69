import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Client, ClientError } from '@tenon/client';
import { PluginError, type PluginRunner } from './plugin-runner.ts';

/** The name of each guest's plugin, and of its export. */
const pluginName = 'greet';

const longestInputBytes = 64 * 1024;

/** Serves `POST /guests/<guest key>/greet` with that guest's plugin: the body is its input, its output is the response. */
export function createWebHost(client: Client, extensionPointId: string, runner: PluginRunner): Server {
  return createServer(async (request, response) => {
    try {
      const guestKey = guestOf(request);
      if (guestKey === undefined) return answer(response, 404, 'POST /guests/<guest key>/greet is all there is here');
      const traceparent = [request.headers.traceparent].flat()[0];
      const input = await readBody(request);
      if (input === undefined) return answer(response, 413, `An input has at most ${longestInputBytes} bytes`);
      // Call load() for each request: it returns the same compiled module until another version is bound.
      const module = await client.load({ extensionPointId, guestKey, name: pluginName });
      answer(response, 200, await runner.call(guestKey, module, { export: pluginName, input, traceparent }));
    } catch (error) {
      answer(response, ...failure(error));
    }
  });
}

function guestOf({ method, url = '' }: IncomingMessage): string | undefined {
  const [, encoded] = /^\/guests\/([^/?]+)\/greet$/.exec(url) ?? [];
  if (method !== 'POST' || encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > longestInputBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The response for an error. */
function failure(error: unknown): [status: number, text: string] {
  if (error instanceof PluginError) return [502, error.message];
  if (!(error instanceof ClientError)) {
    console.error(error);
    return [500, 'Something went wrong here'];
  }
  if (error.code === 'no_plugin') return [404, `This guest has no plugin called ${pluginName}`];
  if (error.code === 'invalid_argument') return [400, error.message];
  // The plugin is not cached, and the server is unavailable.
  return [503, `The plugin can't be had now (${error.code})`];
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(`${text}\n`);
}
