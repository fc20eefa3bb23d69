import { trustClock } from '@tenon/server';
import type { Command } from '../command.ts';
import type { Io } from '../io.ts';
import { type AdminOptions, withPresentData, withStore } from './admin-data.ts';

/** Adds `trust-clock`, by which an operator vouches for a clock that maintenance takes for wrong. */
export function addTrustClockCommand(group: Command, io: Io): void {
  group
    .command('trust-clock')
    .description('confirm that the clock of this machine is right, so that the server deletes expired data')
    .use(withStore)
    .examples('tenon admin trust-clock')
    .addHelpText(
      'after',
      `If the clock is more than 14 days beyond the last maintenance, the server was off for that long, or its clock is wrong. It then
deletes nothing until it has run for 7 days. This command ends the wait. Check the clock first: deleted audit events can't be
restored.`,
    )
    .action((options: AdminOptions) =>
      withPresentData(io, options, async (deps, out) => {
        const now = new Date(deps.clock()).toISOString();
        await trustClock(deps);
        out.result({ now }, () => out.write(`${now}\n`));
        out.note('This time is trusted. The server deletes what has expired within the hour.');
      }),
    );
}
