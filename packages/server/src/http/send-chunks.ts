import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/**
 * Answers with chunks, and asks for each only once the one before has left this process, which may put it into the same memory then.
 * What fails before the first is there is thrown, and can still be answered as an error.
 *
 * @param onBroken told what failed amid the body; the connection is cut off then, so that the client can tell
 */
export async function sendChunks(
  reply: FastifyReply,
  chunks: AsyncIterable<Uint8Array>,
  onBroken: (error: unknown) => void,
): Promise<FastifyReply> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first = await iterator.next();
  reply.hijack(); // the framework's own way takes chunks ahead of the client
  void send(reply, first, iterator).catch((error: unknown) => {
    if (!reply.raw.destroyed) onBroken(error);
    reply.raw.destroy();
  });
  return reply;
}

async function send(
  reply: FastifyReply,
  first: IteratorResult<Uint8Array>,
  iterator: AsyncIterator<Uint8Array>,
): Promise<void> {
  const { raw } = reply;
  try {
    if (!raw.destroyed) raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>);
    for (let next = first; next.done !== true; next = await iterator.next()) {
      if (!(await written(raw, next.value))) return;
    }
    raw.end();
  } finally {
    await iterator.return?.();
  }
}

/** Writes a chunk, and waits until nothing of it is needed any more. @returns whether the client is still there */
function written(response: ServerResponse, chunk: Uint8Array): Promise<boolean> {
  if (response.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const onClose = (): void => resolve(false);
    response.once('close', onClose);
    response.write(chunk, (error) => {
      response.off('close', onClose);
      resolve(!error);
    });
  });
}
