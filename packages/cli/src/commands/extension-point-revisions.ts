import { type SchemaRevision, schemaRevisions } from '@tenon/protocol';
import { path } from '../api.ts';
import { type Command, withExtensionPoint, withServer } from '../command.ts';
import type { Io } from '../io.ts';
import { resolveExtensionPoint } from '../resolve.ts';
import { calling } from '../session.ts';
import { formatTime } from '../text.ts';

/** `tenon extension-point revisions`: the last changes of the schema and the simulations. */
export function addRevisionsCommand(group: Command, io: Io): void {
  group
    .command('revisions')
    .description('list the last changes of the schema and the simulations, newest first')
    .use(withExtensionPoint, withServer)
    .examples(
      'tenon extension-point revisions',
      "tenon extension-point revisions --json | jq '.objects[0].before' > previous.json",
    )
    .addHelpText('after', `--json has the schema before and after each change.`)
    .action(
      calling(io, async (session, options: { readonly extensionPoint?: string }) => {
        const { api, out } = session;
        const id = await resolveExtensionPoint(session, options.extensionPoint);
        const found = await api.get(path`/api/v1/extension-points/${id}/schema/revisions`, schemaRevisions);
        const rows = found.objects.map(({ at, user, before, after, simulation }) => [
          formatTime(at),
          user === null ? '-' : user.name || user.id,
          ...(simulation === null ? [exportsOf(before), exportsOf(after), '-'] : ['-', '-', changeOf(simulation)]),
        ]);
        const headings = ['CHANGED', 'BY', 'EXPORTS BEFORE', 'EXPORTS AFTER', 'SIMULATION'];
        out.result(found, () => out.table(headings, rows, 'The audit trail has no such change.'));
      }),
    );
}

function changeOf({ name, change }: NonNullable<SchemaRevision['simulation']>): string {
  return change === 'put' ? name : `${name} (deleted)`;
}

function exportsOf(schema: SchemaRevision['before']): string {
  return schema === null ? 'not stored' : Object.keys(schema.exports).join(', ') || 'none';
}
