import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Client, ClientError } from '@tenon/client';
import { PluginError, type PluginRunner } from './plugin-runner.ts';

/** What every guest's plugin is asked for here: the plugin called `greet`, and its export of that name. */
const pluginName = 'greet';

const longestInputBytes = 64 * 1024;

/** Answers `POST /guests/<guest key>/greet` by that guest's own plugin: its input is the body, its output the answer. */
export function createWebHost(client: Client, extensionPointId: string, runner: PluginRunner): Server {
  return createServer(async (request, response) => {
    try {
      const guestKey = guestOf(request);
      if (guestKey === undefined) return answer(response, 404, 'POST /guests/<guest key>/greet is all there is here');
      const traceparent = [request.headers.traceparent].flat()[0];
      const input = await readBody(request);
      if (input === undefined) return answer(response, 413, `An input has at most ${longestInputBytes} bytes`);
      // Compiled already, and the same object, unless another version was bound since: asking for it each time is the way.
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

/** What an error is to whoever sent the request. */
function failure(error: unknown): [status: number, text: string] {
  if (error instanceof PluginError) return [502, error.message];
  if (!(error instanceof ClientError)) {
    console.error(error);
    return [500, 'Something went wrong here'];
  }
  if (error.code === 'no_plugin') return [404, `This guest has no plugin called ${pluginName}`];
  if (error.code === 'invalid_argument') return [400, error.message];
  // There is no copy of the plugin here, and the server can't be asked for one.
  return [503, `The plugin can't be had now (${error.code})`];
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(`${text}\n`);
}
