import { type TrustProvider, type TrustRule, trustRule } from '@tenon/protocol';
import { InvalidArgumentError, Option } from 'commander';
import { path } from '../api.ts';
import { type Command, withApp, withConfirmation, withServer } from '../command.ts';
import { confirm } from '../confirm.ts';
import { usageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { type ListOptions, showList, withLimit } from '../listing.ts';
import { callingForPlugin, type PluginSession, pluginExtensionPoint, withProject } from '../project/plugin-session.ts';
import { resolveApp } from '../resolve.ts';
import { calling, type Session } from '../session.ts';
import { formatTime, printable } from '../text.ts';

interface AddOptions {
  readonly provider: TrustProvider;
  readonly issuer?: string;
  readonly repository?: string;
  readonly environment?: string;
  readonly subject?: string;
  readonly claim?: Readonly<Record<string, string>>;
  readonly extensionPoint?: string;
  readonly name?: string;
  readonly guest?: string;
}

/** The commands for trusted publishing. */
export function addTrustCommands(plugins: Command, io: Io): void {
  const group = plugins.command('trust').description('let CI jobs publish without a stored token');

  group
    .command('add')
    .addOption(
      new Option('--provider <provider>', 'the CI service')
        .choices(['github', 'gitlab', 'forgejo', 'generic'])
        .makeOptionMandatory(),
    )
    .option('--issuer <url>', 'the issuer of its identity tokens (default: that of github.com or gitlab.com)')
    .option('--repository <repository>', 'the repository or project, such as octo/median')
    .option('--environment <environment>', 'the environment of the job')
    .option('--subject <pattern>', 'the subject; "*" stands for any characters except ":"')
    .option('--claim <name=value>', 'another claim that the token must have; may come several times', parseClaim)
    .option('--name <name>', "the plugin's name (default: tenon.toml's)")
    .option('--guest <guest>', 'allow plugins of any name under this guest of yours, gst_…')
    .description('add a rule: jobs with these claims may publish a plugin of yours')
    .use(withProject, withServer)
    .examples(
      'tenon plugin trust add --provider github --repository octo/median --environment release',
      'tenon plugin trust add --provider gitlab --issuer https://gitlab.example.org --repository octo/median --claim ref_protected=true',
      'tenon plugin trust add --provider generic --issuer https://ci.example.org --subject "job:median:*"',
    )
    .action(callingForPlugin(io, addRule));

  group
    .command('list')
    .description('list your rules, or those of all publishers of an application')
    .use(withApp, withLimit, withServer)
    .examples('tenon plugin trust list', 'tenon plugin trust list --app Editor')
    .action(calling(io, listRules));

  group
    .command('remove')
    .argument('<rule>', 'its id, tru_…')
    .option('--app <app>', 'as the team of this application: its id or name (default: the rule is yours)')
    .description('delete a rule, and revoke the tokens that it issued')
    .use(withConfirmation, withServer)
    .examples('tenon plugin trust remove tru_01j29hxk3…', 'tenon plugin trust remove tru_01j29hxk3… --app Editor')
    .action(calling(io, removeRule));
}

function parseClaim(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('A claim is <name>=<value>.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

async function addRule(session: PluginSession, options: AddOptions): Promise<void> {
  const { api, out, project } = session;
  const { provider, issuer, repository, environment, subject, guest } = options;
  const claims = {
    ...(repository && { [provider === 'gitlab' ? 'project_path' : 'repository']: repository }),
    ...(environment && { environment }),
    ...(subject && { sub: subject }),
    ...options.claim,
  };
  const name = options.name ?? project?.settings.name;
  if (guest === undefined && name === undefined) throw usageError('Which plugin? Name it with --name.');
  const target =
    guest === undefined
      ? { plugin: { extensionPointId: await pluginExtensionPoint(session, options), name } }
      : { guestId: guest };
  const made = await api.send('POST', '/api/v1/trust-rules', { ...target, provider, issuer, claims }, trustRule);
  out.note(`Jobs of ${printable(made.issuer)} may publish ${targetOf(made)}, if they claim:`);
  for (const [claim, value] of Object.entries(made.claims)) out.note(`  ${claim}: ${printable(value)}`);
  out.result(made, () => out.write(`${made.id}\n`));
}

async function listRules(session: Session, options: ListOptions & { readonly app?: string }): Promise<void> {
  const { app } = options;
  const list =
    app === undefined ? '/api/v1/trust-rules' : path`/api/v1/apps/${await resolveApp(session, app)}/trust-rules`;
  await showList(session, options, list, trustRule, {
    headings: ['ID', 'PUBLISHES', 'USER', 'ISSUER', 'CLAIMS', 'LAST USED'],
    row: (rule) => [
      rule.id,
      targetOf(rule),
      rule.user.name,
      rule.issuer,
      Object.entries(rule.claims)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
      formatTime(rule.lastUsedAt),
    ],
    whenEmpty: 'There are no rules. Add one with `tenon plugin trust add`.',
  });
}

function targetOf({ plugin, guestId }: TrustRule): string {
  return plugin === null ? `under ${guestId}` : `${plugin.extensionPointId}/${plugin.name}`;
}

interface RemoveOptions {
  readonly app?: string;
  readonly yes?: boolean;
}

async function removeRule(session: Session, options: RemoveOptions, id: string): Promise<void> {
  const { api, io, out } = session;
  const { app } = options;
  const rule =
    app === undefined
      ? path`/api/v1/trust-rules/${id}`
      : path`/api/v1/apps/${await resolveApp(session, app)}/trust-rules/${id}`;
  await confirm(io, `CI jobs can't publish by the rule ${id} any more.`, options);
  await api.remove(rule);
  out.result({ removed: id }, () => out.note(`Removed ${id}.`));
}
