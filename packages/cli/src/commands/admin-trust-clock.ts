import { trustClock } from '@tenon/server';
import type { Command } from '../command.ts';
import type { Io } from '../io.ts';
import { type AdminOptions, withDataFolder, withPresentData } from './admin-data.ts';

/** Adds `trust-clock`, by which an operator vouches for a clock that maintenance takes for wrong. */
export function addTrustClockCommand(group: Command, io: Io): void {
  group
    .command('trust-clock')
    .description('say that the clock of this machine is right, so that the server deletes what has expired')
    .use(withDataFolder)
    .examples('tenon admin trust-clock')
    .addHelpText(
      'after',
      `A server whose clock lies more than 14 days beyond its last maintenance was off for that long, or its clock is wrong. It deletes
nothing until it has run for 7 days. This command ends the wait at once. Look at the clock first: audit trails that a wrong clock has
shortened do not come back.`,
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
