import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** What stands before a server: it ends TLS, takes a prefix off paths, and says for whom it asks. */
export interface Front {
  /** `https://localhost:…/tools/tenon`. */
  readonly publicUrl: string;
  /** Where the server has to listen. */
  readonly serverPort: number;
  /** Its certificate, which clients trust only explicitly, as a file and as text. */
  readonly certificateFile: string;
  readonly certificate: string;
  close(): void;
}

/** @param folder where the certificate goes */
export async function startFront(folder: string, prefix: string): Promise<Front> {
  const [keyFile, certificateFile] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const options = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -days 2 -subj /CN=localhost';
  const names = ['-addext', 'subjectAltName=DNS:localhost', '-keyout', keyFile, '-out', certificateFile];
  await promisify(execFile)('openssl', ['req', ...options.split(' '), ...names]);
  const certificate = await readFile(certificateFile, 'utf8');
  const serverPort = await freePort();
  const front = createServer({ key: await readFile(keyFile), cert: certificate }, (request, response) => {
    const target = request.url ?? '/';
    if (!target.startsWith(`${prefix}/`) && target !== prefix) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('This is no place of the server behind.');
      return;
    }
    const passed = httpRequest({
      host: '127.0.0.1',
      port: serverPort,
      method: request.method,
      path: target.slice(prefix.length) || '/',
      headers: { ...request.headers, 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' },
    });
    passed.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.writeHead(502).end());
    request.pipe(passed);
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  return {
    publicUrl: `https://localhost:${(front.address() as AddressInfo).port}${prefix}`,
    serverPort,
    certificateFile,
    certificate,
    close() {
      front.close();
      front.closeAllConnections();
    },
  };
}

/** A port that was free a moment ago: the front gets the server's address before the server listens. */
async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
