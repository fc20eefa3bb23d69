import type { IncomingMessage } from 'node:http';

/** What a client may choose as a request id: it goes into the log and back out. */
const acceptable = /^[A-Za-z0-9._:-]{1,100}$/;

/**
 * Names requests: by the client's own `x-request-id` when it is one, else by a number within a random prefix, which costs
 * next to nothing and is unique over restarts and machines.
 */
export function createRequestIds(random: (length: number) => Uint8Array): (message: IncomingMessage) => string {
  const prefix = Buffer.from(random(6)).toString('hex');
  let count = 0;
  return (message) => {
    const wished = message.headers['x-request-id'];
    return typeof wished === 'string' && acceptable.test(wished) ? wished : `${prefix}-${(count++).toString(36)}`;
  };
}
