import { type DestinationStream, destination, type Logger, pino } from 'pino';

/**
 * The log: a JSON line for each event, on standard error. Nothing in it comes from a client but request ids: no path, no
 * token, no invitation code, no guest key.
 */
export function createLog(level: string, stream: DestinationStream = destination({ dest: 2, sync: true })): Logger {
  return pino({ level, base: {}, timestamp: () => `,"time":"${new Date().toISOString()}"` }, stream);
}
