import type { ExtensionPoint } from '@tenon/protocol';
import { defaultSimulationLimits } from '@tenon/run-kit/simulation';
import { CliError, usageError } from '../errors.ts';
import { formatTenonToml, tenonTomlName } from '../project/tenon-toml.ts';
import { xtpTomlName } from '../project/xtp-toml.ts';
import { runCalls } from '../testing/run-task.ts';
import { printable } from '../text.ts';
import { bundleLimits, type GeneratorBundle, shownName } from './generator-bundle.ts';
import { sampleSchema } from './plugin-interface.ts';
import { findClash, pathFault } from './safe-path.ts';

/** What a generator's plugin is made for. */
export interface GeneratorPlan {
  readonly name: string;
  readonly extensionPoint: ExtensionPoint | { readonly id: string } | undefined;
  readonly server: string | undefined;
  readonly featureFlags: readonly string[];
}

const timeLimitMs = 60_000;

/**
 * Has a generator render the files of its template: `render` gets the text of each file whose name ends with the suffix, and returns that
 * of the file without it. Other files are copied. The generator runs without files and network, on one instance.
 *
 * @returns the files by path, with `/`
 * @throws CliError if it fails, or names a file outside of the folder
 */
export async function runGenerator(
  bundle: GeneratorBundle,
  plan: GeneratorPlan,
  signal: AbortSignal,
): Promise<Map<string, string | Uint8Array>> {
  checkFlags(bundle, plan.featureFlags);
  const { plugin, template, suffix } = bundle;
  const isRendered = (name: string) => name.toLowerCase().endsWith(suffix.toLowerCase());
  const sources = [...template].filter(([name]) => isRendered(name));
  const { outputs, error } = await runCalls(
    {
      plugin,
      config: new Map([['ctx', JSON.stringify(contextOf(plan))]]),
      exportName: 'render',
      inputs: sources.map(([, bytes]) => bytes),
      limits: defaultSimulationLimits,
      maxTotalBytes: bundleLimits.totalBytes,
    },
    { timeLimitMs, signal },
  );
  if (error !== undefined) {
    const [name] = sources[outputs.length] ?? ['plugin.wasm'];
    throw failed(`Rendering template/${shownName(name).slice(1, -1)} failed: ${printable(error)}`);
  }
  const rendered = new Map(sources.map(([name], index) => [name, outputs[index] as Uint8Array]));
  const files = [...template].map(([name, bytes]): [string, string | Uint8Array] => {
    return [isRendered(name) ? name.slice(0, -suffix.length) : name, rendered.get(name) ?? bytes];
  });
  const paths = files.map(([path]) => path);
  for (const path of paths) {
    const fault = pathFault(path);
    if (fault !== undefined) throw failed(`The path ${shownName(path)} ${fault}`);
  }
  const clash = findClash(paths);
  if (clash !== undefined) throw failed(`It writes ${shownName(clash[0])} and ${shownName(clash[1])}`);
  const hasSettings = paths.some((path) => path === tenonTomlName || path === xtpTomlName);
  return new Map([...(hasSettings ? [] : [[tenonTomlName, settingsText(plan)] as const]), ...files]);
}

/** The configuration value `ctx`, which generators read. */
function contextOf({ name, extensionPoint, featureFlags }: GeneratorPlan): unknown {
  const known = extensionPoint !== undefined && 'schema' in extensionPoint ? extensionPoint : undefined;
  return {
    schema: { version: 'v1-draft', ...(known?.schema ?? sampleSchema) },
    project: {
      name,
      description: '',
      appId: known?.appId ?? '',
      extensionPointId: extensionPoint?.id ?? '',
    },
    featureFlags,
  };
}

function settingsText({ name, extensionPoint, server }: GeneratorPlan): string {
  return formatTenonToml({
    name,
    ...(extensionPoint === undefined ? {} : { extensionPoint: extensionPoint.id }),
    ...(server === undefined ? {} : { server }),
  });
}

function checkFlags({ featureFlags: known }: GeneratorBundle, given: readonly string[]): void {
  const unknown = given.find((flag) => known !== undefined && !known.includes(flag));
  if (unknown === undefined) return;
  const listed = (known ?? []).map(printable).join(', ') || 'none';
  throw usageError(`The generator has no feature flag "${printable(unknown)}". It has: ${listed}.`);
}

function failed(message: string): CliError {
  return new CliError('generator_failed', `The generator failed. ${message.replace(/\.?$/, '.')}`);
}

/** Whether the plugin has a script to run before the first build, which `tenon` never runs. */
export function hasPrepareScript(files: ReadonlyMap<string, string | Uint8Array>): boolean {
  const text = files.get(xtpTomlName);
  return (
    text !== undefined && /^\s*prepare\s*=/m.test(typeof text === 'string' ? text : new TextDecoder().decode(text))
  );
}
