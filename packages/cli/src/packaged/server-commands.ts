import type { Command } from '../command.ts';
import { usageError } from '../errors.ts';

/** The package holds no server. Its server commands accept everything, and say where to run them. */
const addServerCommand = (name: string) => (program: Command) => {
  program
    .command(name)
    .description(`runs in a server's installation only, not in this one: ${whereToRun(name)}`)
    .argument('[arguments...]')
    .allowUnknownOption()
    .action(() => {
      throw usageError(`This installation of tenon has no server, so it has no \`tenon ${name}\`.`, whereToRun(name));
    });
};

function whereToRun(name: string): string {
  return `Run \`tenon ${name}\` on the machine of the server, with the tenon that is installed there.`;
}

export const addServeCommand = addServerCommand('serve');
export const addAdminCommands = addServerCommand('admin');
