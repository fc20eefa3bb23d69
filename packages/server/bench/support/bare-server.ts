/** A bare `node:http` server that answers what it is told to by path, without asking who calls. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';

/** An answer as a bare server gives it. `headers` are the few that a client needs to make sense of the body. */
interface Canned {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

process.once('message', (answers: Record<string, { headers: Record<string, string>; base64: string }>) => {
  const canned = new Map<string, Canned>();
  for (const [path, { headers, base64 }] of Object.entries(answers)) {
    canned.set(path, { headers, body: Buffer.from(base64, 'base64') });
  }
  const server = createServer((request, response) => {
    const answer = canned.get(request.url ?? '');
    if (answer === undefined) {
      response.writeHead(404).end();
      return;
    }
    const { headers, body } = answer;
    if (request.headers['if-none-match'] === headers.etag) {
      response.writeHead(304, { etag: headers.etag ?? '' }).end();
      return;
    }
    response.writeHead(200, { ...headers, 'content-length': String(body.length) }).end(body);
  });
  process.on('message', () => process.send?.(process.cpuUsage()));
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
});
process.on('disconnect', () => process.exit());
