import { serverUrl } from '../../base-path.ts';
import { CommandBlock } from '../../components/command-block.tsx';
import { InstallCommand } from '../../components/install-command.tsx';
import { pluginNameOf } from './check-module.ts';
import type { Target } from './publish-form.tsx';

/** The CLI commands that publish the same. */
export function CommandLine(props: {
  readonly extensionPointId: string;
  readonly fileName: string | undefined;
  readonly target: Target | undefined;
}) {
  const { extensionPointId, fileName = 'plugin.wasm', target } = props;
  const name = target?.name ?? '';
  const options = [
    `--extension-point ${extensionPointId}`,
    ...(name === '' || name === pluginNameOf(fileName) ? [] : [`--name ${quoted(name)}`]),
    ...(target === undefined || target.guestId === '' ? [] : [`--guest ${target.guestId}`]),
    ...(target === undefined || target.semver.trim() === '' ? [] : [`--semver ${quoted(target.semver.trim())}`]),
    ...(target === undefined || target.note.trim() === '' ? [] : [`--note ${quoted(target.note.trim())}`]),
  ];
  return (
    <div class="publish-aside stack">
      <h3>From the command line</h3>
      <InstallCommand />
      <div>
        <p class="small soft">Log in once:</p>
        <CommandBlock command={`tenon login --server ${serverUrl()}`} what="the login command" />
      </div>
      <div>
        <p class="small soft">Create a plugin that builds, unless you have a module:</p>
        <CommandBlock
          command={`tenon plugin init my-plugin --extension-point ${extensionPointId}`}
          what="the command that creates a plugin"
        />
      </div>
      <div>
        <p class="small soft">Then publish each version, locally or in CI:</p>
        <CommandBlock
          command={[`tenon plugin push ${quoted(fileName)}`, ...options].join(' \\\n  ')}
          what="the publish command"
        />
      </div>
    </div>
  );
}

/** Quotes a shell argument. */
function quoted(text: string): string {
  return /^[\w.@%+=:,/][\w.@%+=:,/-]*$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
