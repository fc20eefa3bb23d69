import type { App, ExtensionPoint, Plugin, PublishedPlugin } from '@tenon/protocol';
import { useRef, useState } from 'preact/hooks';
import { DropZone } from '../../components/drop-zone.tsx';
import { Link } from '../../components/link.tsx';
import { Notice } from '../../components/notice.tsx';
import { Spinner } from '../../components/spinner.tsx';
import { checkModule, type ModuleCheck, pluginNameOf, preambleFault } from './check-module.ts';
import { CommandLine } from './command-line.tsx';
import { guestNames } from './guest-names.ts';
import { type Draft, PublishForm, type Target } from './publish-form.tsx';

type State =
  | { readonly name: 'empty'; readonly fault?: string; readonly published?: PublishedPlugin }
  | { readonly name: 'looking' }
  | { readonly name: 'draft'; readonly draft: Draft };

/** Publishes a plugin from a file, with the way to do it from the command line beside it. */
export function PublishPanel(props: {
  readonly app: App;
  readonly extensionPoint: ExtensionPoint;
  readonly own: readonly Plugin[];
  readonly onPublished: (plugin: PublishedPlugin) => void;
  /** Called when it isn't known whether something was published. */
  readonly onUnsure: () => void;
}) {
  const { app, extensionPoint, own, onPublished, onUnsure } = props;
  const guests = guestNames(app);
  const [state, setState] = useState<State>({ name: 'empty' });
  const [target, setTarget] = useState<Target>({ name: '', guestId: '', semver: '', note: '' });
  const latest = useRef(0);

  const take = async (files: readonly File[]): Promise<void> => {
    const mine = ++latest.current;
    const show = (next: State): void => {
      if (latest.current === mine) setState(next);
    };
    const [file] = files;
    if (file === undefined) return;
    if (files.length > 1)
      return show({ name: 'empty', fault: 'One file at a time, please: each is a plugin of its own.' });
    show({ name: 'looking' });
    const found = await look(file);
    if (typeof found === 'string') return show({ name: 'empty', fault: found });
    setTarget((now) => ({ ...now, name: pluginNameOf(file.name), semver: '', note: '' }));
    show({ name: 'draft', draft: found });
  };

  return (
    <div class="publish">
      <div class="publish-main">
        {extensionPoint.requiresApproval ? (
          <p class="soft">The team of {app.name} looks at each new version before the application gets it.</p>
        ) : null}
        {state.name === 'draft' ? (
          <PublishForm
            key={latest.current}
            draft={state.draft}
            target={target}
            onTarget={setTarget}
            extensionPoint={extensionPoint}
            own={own}
            guests={guests}
            onPublished={(published) => {
              setState({ name: 'empty', published });
              onPublished(published);
            }}
            onStopped={onUnsure}
            onCancel={() => setState({ name: 'empty' })}
          />
        ) : (
          <>
            {state.name === 'empty' && state.fault !== undefined ? (
              <Notice kind="failed" title="This file can’t be published">
                <p>{state.fault}</p>
              </Notice>
            ) : null}
            {state.name === 'empty' && state.published !== undefined ? (
              <Done plugin={state.published} app={app} guests={guests} />
            ) : null}
            <DropZone
              label="Drop a .wasm file here"
              accept=".wasm,application/wasm"
              hint="A core module. It is looked at here first, and sent when you say so."
              isDisabled={state.name === 'looking'}
              onFiles={(files) => void take(files)}
            />
            {state.name === 'looking' ? <Spinner label="Looking at the file …" /> : null}
          </>
        )}
      </div>
      <CommandLine
        extensionPointId={extensionPoint.id}
        fileName={state.name === 'draft' ? state.draft.fileName : undefined}
        target={state.name === 'draft' ? target : undefined}
      />
    </div>
  );
}

/** Reads a file and looks at it; what speaks against it, where it can't be published. */
async function look(file: File): Promise<Draft | string> {
  try {
    // The beginning first: who drops a film by mistake need not wait until it is read.
    const fault = preambleFault(new Uint8Array(await file.slice(0, 8).arrayBuffer()));
    if (fault !== undefined) return fault;
    const bytes = new Uint8Array(await file.arrayBuffer());
    const { describeModule, listProposals } = await import('@tenon/instrument');
    const check: ModuleCheck = checkModule(bytes, {
      describeModule,
      listProposals,
      validate: (all) => WebAssembly.validate(all),
    });
    return check.kind === 'refused' ? check.reason : { fileName: file.name, bytes, check };
  } catch (error) {
    return error instanceof DOMException
      ? 'The browser can’t read it. It may be a folder, or gone by now.'
      : 'It could not be looked at. Reload the page and try again.';
  }
}

function Done({
  plugin,
  app,
  guests,
}: {
  readonly plugin: PublishedPlugin;
  readonly app: App;
  readonly guests: ReadonlyMap<string, string>;
}) {
  const { status, version, isNewVersion } = plugin;
  const bound = plugin.guestIds.map((id) => guests.get(id) ?? id);
  const isServed = status.state === 'published' && bound.length > 0;
  return (
    <Notice kind="done" title={doneTitle(plugin)}>
      <p>
        {isServed
          ? `${app.name} gets it${isNewVersion ? ' from now on' : ''}${
              guests.size < 2 ? '' : ` under ${new Intl.ListFormat('en').format(bound)}`
            }.`
          : status.detail}
      </p>
      {version.state === 'awaiting_approval' ? (
        <p>You need to do nothing more. It is used as soon as they approve it, and you read here what they decided.</p>
      ) : null}
      <p>
        <Link to={`/apps/${app.id}/plugins/${plugin.extensionPointId}/${plugin.name}`}>Its page</Link> has the history,
        and the ways to roll back and to yank.
      </p>
    </Notice>
  );
}

function doneTitle({ name, version, isNewVersion }: PublishedPlugin): string {
  if (!isNewVersion) return `Nothing changed: these bytes are version ${version.number} of ${name} already`;
  return version.state === 'awaiting_approval'
    ? `${name} is sent: version ${version.number} waits for the team`
    : `${name} is published: version ${version.number}`;
}
