import { type DestinationStream, destination, type Logger, pino } from 'pino';

/**
 * Creates the log: one JSON line per event, on standard error. Request ids are the only client data in it. Paths, tokens, invitation
 * codes, and guest keys are never logged.
 */
export function createLog(level: string, stream: DestinationStream = destination({ dest: 2, sync: true })): Logger {
  return pino({ level, base: {}, timestamp: () => `,"time":"${new Date().toISOString()}"` }, stream);
}
