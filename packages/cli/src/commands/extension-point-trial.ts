import { type BreakingPlugin, schemaTrial } from '@tenon/protocol';
import { path } from '../api.ts';
import { type Command, withExtensionPoint, withServer } from '../command.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { resolveExtensionPoint } from '../resolve.ts';
import { readSchemaText, schemaHelp, showWarnings } from '../schema-file.ts';
import { calling } from '../session.ts';
import { count, countGuests, printable } from '../text.ts';

interface Options {
  readonly extensionPoint?: string;
  readonly schema: string;
}

/** `tenon extension-point try-schema`: what `update --schema` would do to the plugins that are bound. */
export function addTrialCommand(group: Command, io: Io): void {
  group
    .command('try-schema')
    .requiredOption('--schema <file>', schemaHelp)
    .description('show which bound plugins a schema would break, before you set it')
    .use(withExtensionPoint, withServer)
    .examples('tenon extension-point try-schema --schema schema.yaml')
    .addHelpText('after', `Nothing is changed. The exit code is 5 if the schema would break plugins, else 0.`)
    .action(
      calling(io, async (session, options: Options) => {
        const { api, out } = session;
        const id = await resolveExtensionPoint(session, options.extensionPoint);
        const schema = await readSchemaText(io, options.schema);
        const trial = await api.send(
          'POST',
          path`/api/v1/extension-points/${id}/schema/trial`,
          { schema },
          schemaTrial,
        );
        const { checked, breaking, objects, unreadable, hasMoreUnreadable, warnings } = trial;
        showWarnings(out, warnings);
        out.result(trial, () => {
          if (objects.length > 0) out.table(['PLUGIN', 'VERSION', 'BY', 'BOUND', 'WHY'], objects.flatMap(rowsOf), '');
        });
        for (const { name, version, detail } of unreadable) {
          out.warn(`${printable(name)} ${version} could not be looked at: ${printable(detail)}`);
        }
        if (hasMoreUnreadable) out.warn('More could not be looked at.');
        const bound = count(checked, 'bound plugin');
        if (breaking === 0) return out.note(`The schema breaks none of ${bound}.`);
        throw new CliError('breaking_schema', `The schema would break ${breaking} of ${bound}. Nothing was changed.`, {
          exitCode: exitCodes.conflict,
        });
      }),
    );
}

/** A line for each reason; what they are about on the first. */
function rowsOf({
  name,
  version,
  userName,
  guestIds,
  hasMoreGuests,
  mismatches,
  isBrokenAlready,
}: BreakingPlugin): string[][] {
  const about = [printable(name), String(version), printable(userName), countGuests(guestIds, hasMoreGuests)];
  return mismatches.map(({ detail }, at) => {
    const why = printable(detail) + (at === 0 && isBrokenAlready ? ' (It does not fit now either.)' : '');
    return [...(at === 0 ? about : about.map(() => '')), why];
  });
}
