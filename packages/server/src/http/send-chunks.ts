import type { ServerResponse } from 'node:http';
import type { Reply } from './reply.ts';

/**
 * Sends chunks, and asks for each only once the one before has left this process, which may put it into the same memory then.
 * What fails before the first chunk is thrown, and can still be answered as an error.
 *
 * @param onBroken called with what failed after that; the connection is closed then, so that the client notices
 */
export async function sendChunks(
  { response, statusCode, fields }: Reply,
  chunks: AsyncIterable<Uint8Array>,
  onBroken: (error: unknown) => void,
): Promise<void> {
  const iterator = chunks[Symbol.asyncIterator]();
  let next = await iterator.next();
  try {
    if (!response.destroyed) response.writeHead(statusCode, fields);
    for (; next.done !== true; next = await iterator.next()) {
      if (!(await written(response, next.value))) return;
    }
    response.end();
  } catch (error) {
    if (!response.destroyed) onBroken(error);
    response.destroy();
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
