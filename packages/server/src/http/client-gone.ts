import type { ServerResponse } from 'node:http';

/** Aborts when the client goes away before it got its whole answer. */
export function goneSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  if (response.destroyed) controller.abort();
  return controller.signal;
}
