import type { App, ExtensionPoint, PublishedPlugin, VersionState } from '@tenon/protocol';
import { useRef, useState } from 'preact/hooks';
import { byteSize } from '../../components/byte-size.ts';
import { DropZone } from '../../components/drop-zone.tsx';
import { Link } from '../../components/link.tsx';
import { Notice } from '../../components/notice.tsx';
import { Spinner } from '../../components/spinner.tsx';
import { useSession } from '../../state/services.ts';
import { checkFile } from './check-file.ts';
import { largestModule, moduleSizeFault, pluginNameOf } from './check-module.ts';
import { CommandLine } from './command-line.tsx';
import { guestNames } from './guest-names.ts';
import { type Draft, PublishForm, type Target } from './publish-form.tsx';

interface State {
  readonly draft?: Draft | undefined;
  readonly isChecking?: true;
  /** Why the last file can't be published. */
  readonly fault?: string;
  readonly published?: PublishedPlugin;
}

/** Publishes a plugin from a file, with the way to do it from the command line beside it. */
export function PublishPanel(props: {
  readonly app: App;
  readonly extensionPoint: ExtensionPoint;
  readonly onPublished: (plugin: PublishedPlugin) => void;
  /** Called when it isn't known whether something was published. */
  readonly onUnsure: () => void;
}) {
  const { app, extensionPoint, onPublished, onUnsure } = props;
  const guests = guestNames(app);
  const { view } = useSession();
  const largest = largestModule(view.status === 'ready' ? view.maxModuleBytes : Infinity, extensionPoint);
  const [state, setState] = useState<State>({});
  const [target, setTarget] = useState<Target>(noTarget);
  const [sentBytes, setSentBytes] = useState<number>();
  const isSending = sentBytes !== undefined;
  const lastTurn = useRef(0);

  const addFile = async (files: readonly File[]): Promise<void> => {
    const turn = ++lastTurn.current;
    const { draft } = state;
    const refuse = (fault: string): void => setState({ draft, fault });
    const [file] = files;
    if (file === undefined) return;
    if (files.length > 1) return refuse('Add one file at a time. Each file is one plugin.');
    const sizeFault = moduleSizeFault(file, largest);
    if (sizeFault !== undefined) return refuse(sizeFault);
    setState({ draft, isChecking: true });
    const result = await checkFile(file);
    if (lastTurn.current !== turn) return;
    if (typeof result === 'string') return refuse(result);
    // A name that was typed stays.
    setTarget((now) =>
      draft === undefined || now.name === pluginNameOf(draft.fileName)
        ? { ...now, name: pluginNameOf(file.name) }
        : now,
    );
    setState({ draft: { ...result, id: turn } });
  };
  const clear = (published?: PublishedPlugin): void => {
    lastTurn.current++; // ignores the result of a check that is still running
    setTarget(({ guestId }) => ({ ...noTarget, guestId }));
    setState(published === undefined ? {} : { published });
  };

  const { draft, isChecking = false, fault, published } = state;
  return (
    <div class="publish">
      <div class="publish-main">
        {extensionPoint.requiresApproval ? (
          <p class="soft">Each new version needs the approval of {app.name}’s team before hosts get it.</p>
        ) : null}
        {fault === undefined ? null : (
          <Notice kind="failed" title="This file can’t be published">
            <p>{fault}</p>
          </Notice>
        )}
        {published === undefined ? null : <Done plugin={published} app={app} guests={guests} />}
        <DropZone
          label="Drop a .wasm file here"
          accept=".wasm,application/wasm"
          hint={
            draft === undefined
              ? `A core module of up to ${byteSize(largest.bytes)}. Checked in your browser first; uploaded when you publish.`
              : isSending
                ? 'Stay on this page until the upload is complete.'
                : 'Nothing is uploaded until you publish. Drop another file to replace this one.'
          }
          isDisabled={isSending}
          {...(draft === undefined ? {} : { file: { name: draft.fileName, bytes: draft.bytes.length } })}
          onFiles={(files) => void addFile(files)}
        >
          {isChecking ? <Spinner label="Checking the file…" /> : null}
          {draft !== undefined && sentBytes !== undefined ? (
            <Progress sent={sentBytes} total={draft.bytes.length} />
          ) : null}
        </DropZone>
        {draft === undefined ? null : (
          <PublishForm
            key={draft.id}
            draft={draft}
            target={target}
            onTarget={setTarget}
            extensionPoint={extensionPoint}
            guests={guests}
            hasMoreGuests={app.hasMoreGuests}
            isChecking={isChecking}
            onProgress={setSentBytes}
            onPublished={(plugin) => {
              clear(plugin);
              onPublished(plugin);
            }}
            onUnsure={onUnsure}
            onCancel={() => clear()}
          />
        )}
      </div>
      <CommandLine
        extensionPointId={extensionPoint.id}
        fileName={draft?.fileName}
        target={draft === undefined ? undefined : target}
      />
    </div>
  );
}

const noTarget: Target = { name: '', guestId: '', semver: '', note: '' };

function Progress({ sent, total }: { readonly sent: number; readonly total: number }) {
  return (
    <div class="upload">
      <progress value={Math.min(sent, total)} max={total} aria-label="Uploaded" />
      <p class="soft small">
        {sent >= total ? 'Uploaded. The server checks the module…' : `${byteSize(sent)} of ${byteSize(total)} uploaded`}
      </p>
    </div>
  );
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
    <Notice kind={version.state === 'failed' ? 'warning' : 'done'} title={doneTitle(plugin)}>
      <p>
        {isServed
          ? `Hosts of ${app.name} ${isNewVersion ? 'now receive' : 'already receive'} it${
              guests.size < 2 ? '' : ` under ${new Intl.ListFormat('en').format(bound)}`
            }.`
          : status.detail}
      </p>
      {waitsFor[version.state] === undefined ? null : <p>You’ll see {waitsFor[version.state]} on the plugin’s page.</p>}
      <p>
        The <Link to={`/apps/${app.id}/my-plugins/${plugin.extensionPointId}/${plugin.name}`}>plugin page</Link> shows
        the history, and lets you roll back and yank versions.
      </p>
    </Notice>
  );
}

const waitsFor: Partial<Record<VersionState, string>> = {
  awaiting_approval: 'the decision',
  testing: 'the result',
  failed: 'the report',
};

const newVersionWords: Partial<Record<VersionState, string>> = {
  awaiting_approval: 'is awaiting approval',
  testing: 'is being tested',
  failed: 'failed its simulations',
};

function doneTitle({ name, version, isNewVersion }: PublishedPlugin): string {
  if (!isNewVersion) return `No change: identical to ${name} version ${version.number}`;
  return `Version ${version.number} of ${name} ${newVersionWords[version.state] ?? 'is published'}`;
}
