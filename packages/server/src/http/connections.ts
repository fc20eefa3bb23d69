import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOfPeer } from './client-address.ts';

/** How long a client that is refused may take to read that, in milliseconds. */
const refusalMs = 2000;

/** For how long, when all connections were in use, it isn't looked again whether one is not, in milliseconds. */
const lookAgainMs = 100;

/** What Node keeps at a socket of the answer that is under way, if one is. */
export interface AnsweringSocket extends Socket {
  readonly _httpMessage?: object | null;
}

export interface ConnectionLimit {
  /** How many connections there may be at once. */
  readonly max: number;
  /** The whole answer that a connection gets for which there is no room. */
  readonly refusal: () => string;
}

/** The open connections. */
export interface Connections extends Iterable<AnsweringSocket> {
  /** Closes up to so many on which no request is being answered: the oldest, of the networks that have the most. */
  closeUnused(most: number): void;
}

/**
 * Keeps the number of connections bounded. When there is no room for another one, one is closed on which no request is being answered,
 * as clients expect of connections that they keep (RFC 9112 §9.5): the oldest of the network that has the most of all, so that who
 * floods takes the room from itself. When all are in use, a network that has more than half of them gives up its oldest for one of another
 * network, and else the new one is refused.
 *
 * @returns those that are open
 */
export function limitConnections(server: Server, { max, refusal }: ConnectionLimit): Connections {
  const networks = new Map<string, Set<AnsweringSocket>>(); // of each, the oldest stands first
  let count = 0;
  let lookAgainAt = 0;
  const [accept] = server.listeners('connection');
  server.removeAllListeners('connection');

  const add = (socket: AnsweringSocket): void => {
    const network = networkOfPeer(socket);
    const sockets = networks.get(network) ?? new Set();
    networks.set(network, sockets.add(socket));
    count++;
    socket.once('close', () => remove(network, socket));
  };
  const remove = (network: string, socket: AnsweringSocket): void => {
    const sockets = networks.get(network);
    if (sockets?.delete(socket) !== true) return;
    if (sockets.size === 0) networks.delete(network);
    count--;
  };
  const findUnusedNowAndThen = (): Found | undefined => {
    if (performance.now() < lookAgainAt) return undefined;
    const found = findUnused(networks);
    if (found === undefined) lookAgainAt = performance.now() + lookAgainMs;
    return found;
  };
  const makeRoom = (network: string): void => {
    const found = findUnusedNowAndThen() ?? findGivenUp(networks, network, max / 2);
    if (found !== undefined) close(found);
  };
  const close = (found: Found): void => {
    remove(...found);
    found[1].destroy();
  };
  server.on('connection', (socket: Socket) => {
    if (count >= max) makeRoom(networkOfPeer(socket));
    if (count >= max) {
      refuse(socket, refusal());
      return;
    }
    add(socket);
    accept?.call(server, socket);
  });
  return {
    *[Symbol.iterator]() {
      for (const sockets of networks.values()) yield* sockets;
    },
    closeUnused(most) {
      for (let closed = 0; closed < most; closed++) {
        const found = findUnused(networks);
        if (found === undefined) return;
        close(found);
      }
    },
  };
}

type Networks = ReadonlyMap<string, ReadonlySet<AnsweringSocket>>;
type Found = readonly [network: string, socket: AnsweringSocket];

/** An unused one of the network that has the most; where it has none, of any. */
function findUnused(networks: Networks): Found | undefined {
  const greediest = findGreediest(networks);
  for (const [network, sockets] of greediest === undefined ? [] : [greediest, ...networks]) {
    const unused = Iterator.from(sockets).find((socket) => !isInUse(socket));
    if (unused !== undefined) return [network, unused];
  }
  return undefined;
}

/** The oldest of a network that has more than its due, and isn't the one that asks for room: behind a proxy all are of one. */
function findGivenUp(networks: Networks, asking: string, due: number): Found | undefined {
  const [network = asking, sockets] = findGreediest(networks) ?? [];
  const [oldest] = sockets ?? [];
  return oldest === undefined || network === asking || (sockets?.size ?? 0) <= due ? undefined : [network, oldest];
}

function findGreediest(networks: Networks): readonly [string, ReadonlySet<AnsweringSocket>] | undefined {
  let greediest: readonly [string, ReadonlySet<AnsweringSocket>] | undefined;
  for (const each of networks) if (each[1].size > (greediest?.[1].size ?? 0)) greediest = each;
  return greediest;
}

/** Whether an answer is under way on a connection. */
export function isInUse({ _httpMessage: answer }: AnsweringSocket): boolean {
  return answer !== undefined && answer !== null;
}

/** Ends a connection with a whole answer. Who doesn't close it as well, having read that, loses it soon. */
export function refuse(socket: Socket, answer: string): void {
  socket.on('error', () => {}); // it may have gone already
  socket.resume(); // a request that is left unread would have the answer thrown away with it
  socket.end(answer);
  const timer = setTimeout(() => socket.destroy(), refusalMs);
  socket.once('end', () => socket.destroy()).once('close', () => clearTimeout(timer));
}
