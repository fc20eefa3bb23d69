import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sealAuditEvents } from '../../src/audit/seal.ts';
import { sendDueWebhooks, type WebhookSenderOptions } from '../../src/webhooks/sender.ts';
import type { TestService } from './service.ts';

/** A request that a receiver got. */
export interface ReceivedWebhook {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How a receiver answers a request. */
export type AnswerWebhook = (response: ServerResponse, received: ReceivedWebhook) => void;

export type TestReceiver = Awaited<ReturnType<typeof openReceiver>>;

/** A server that gets webhooks. It answers 204 unless `answer` is set. */
export async function openReceiver() {
  const received: ReceivedWebhook[] = [];
  const state = { answer: undefined as AnswerWebhook | undefined };
  const server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const one = { path: request.url ?? '', headers, body: Buffer.concat(chunks).toString() };
    received.push(one);
    if (state.answer === undefined) response.writeHead(204).end();
    else state.answer(response, one);
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    received,
    /** Sets how it answers from now on. */
    answers(answer: AnswerWebhook | number | undefined): void {
      state.answer = typeof answer === 'number' ? (response) => void response.writeHead(answer).end('text') : answer;
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Seals the events, queues deliveries, and makes one attempt at each that is due. */
export async function sendWebhooks(
  { services: { deps, log } }: TestService,
  options: Partial<WebhookSenderOptions> = {},
): Promise<Readonly<Record<'delivered' | 'retried' | 'failed', number>>> {
  await sealAuditEvents(deps);
  return sendDueWebhooks({ deps, log, ...options });
}
