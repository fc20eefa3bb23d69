import { type BindingList, bindingList } from '@tenon/protocol';
import type { Command } from 'commander';
import { path } from '../api.ts';
import { examples, withServer } from '../command.ts';
import type { Io } from '../io.ts';
import { calling, type Session } from '../session.ts';
import { formatTime, printable } from '../text.ts';

export function addBindingsCommand(program: Command, io: Io): void {
  withServer(
    program
      .command('bindings')
      .argument('<extension-point>', 'its id, ext_…')
      .argument('<guest-key>', 'what the application calls the guest')
      .description('list what a host loads: the plugins bound to a guest key'),
  )
    .addHelpText(
      'after',
      examples(
        'tenon bindings ext_01j29hxk3… acme',
        "tenon bindings ext_01j29hxk3… acme --json | jq -r '.greet.contentAddress'",
      ),
    )
    .action(calling(io, listBindings));
}

async function listBindings({ api, out }: Session, _: object, extensionPoint: string, guestKey: string): Promise<void> {
  const listPath = path`/api/v1/extension-points/${extensionPoint}/bindings/${guestKey}`;
  const bindings: BindingList = await api.get(listPath, bindingList);
  out.result(bindings, () =>
    out.table(
      ['NAME', 'CONTENT ADDRESS', 'UPDATED'],
      Object.entries(bindings).map(([name, binding]) => [
        printable(name),
        binding.contentAddress,
        formatTime(binding.updatedAt),
      ]),
      'No plugin is bound to this guest key. A guest binds one by publishing it: tenon plugin push <file>',
    ),
  );
}
