import type { Server } from 'node:http';

/**
 * Whether this server is about to stop. It serves as ever while it drains, but says to those who ask whether it is ready that they
 * should send to others: what is sent to a server that no longer listens is lost.
 */
export interface Draining {
  begin(): void;
  readonly isOn: () => boolean;
}

export function createDraining(): Draining {
  let isDraining = false;
  return {
    begin() {
      isDraining = true;
    },
    isOn: () => isDraining,
  };
}

/**
 * Has every answer from now on be the last on its connection. A connection that stays open until the server closes it may carry
 * another request at that very moment, which nobody then answers (RFC 9112 §9.6).
 */
export function closeAfterAnswers(server: Server): void {
  server.prependListener('request', (_, response) => response.setHeader('connection', 'close'));
}
