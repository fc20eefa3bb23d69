import type { ExtensionPoint, Plugin, PublishedPlugin } from '@tenon/protocol';
import { isPluginName, isSemver, maxReasonLength, maxSemverLength } from '@tenon/protocol/names';
import { useEffect, useRef, useState } from 'preact/hooks';
import { hasCode } from '../../api/api-error.ts';
import { upload } from '../../api/upload.ts';
import { href } from '../../base-path.ts';
import { Button } from '../../components/button.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { SelectField, TextAreaField, TextField } from '../../components/field.tsx';
import { LeaveDialog } from '../../components/leave-dialog.tsx';
import { useAccount, useApi } from '../../state/services.ts';
import { useLookup } from '../../state/use-lookup.ts';
import { useNavigationGuard } from '../../state/use-navigation-guard.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { pluginApiPath } from '../plugin/plugin-path.ts';
import type { CheckedFile } from './check-file.ts';
import { pluginNameOf } from './check-module.ts';
import { ModuleFindings } from './module-findings.tsx';
import { publishHint } from './publish-hints.ts';

/** A file with the bytes that it had when it was added: later changes of the file are not sent. */
export interface Draft extends CheckedFile {
  /** Differs for each added file. */
  readonly id: number;
}

/** Where it goes, which the command line beside it names too. */
export interface Target {
  readonly name: string;
  /** One of one's guests alone; `''` for all of them. */
  readonly guestId: string;
  /** What its publisher calls the version, and says of it; `''` for nothing. */
  readonly semver: string;
  readonly note: string;
}

/** A module before it is sent, and while it is. */
export function PublishForm(props: {
  readonly draft: Draft;
  readonly target: Target;
  readonly onTarget: (target: Target) => void;
  readonly extensionPoint: ExtensionPoint;
  /** One's guests, by id. */
  readonly guests: ReadonlyMap<string, string>;
  /** Whether the user holds more guests than these. */
  readonly hasMoreGuests: boolean;
  /** Whether another file, which replaces this one, is being checked. */
  readonly isChecking: boolean;
  /** Called with how many bytes are sent, and with `undefined` once nothing is under way. */
  readonly onProgress: (sentBytes: number | undefined) => void;
  readonly onPublished: (plugin: PublishedPlugin) => void;
  /** Called when the upload was stopped: the server may already have published the plugin. */
  readonly onUnsure: () => void;
  readonly onCancel: () => void;
}) {
  const { draft, target, onTarget, extensionPoint, guests, isChecking, onProgress, onPublished, onUnsure, onCancel } =
    props;
  const { name, guestId, semver, note } = target;
  const api = useApi();
  const { id: userId } = useAccount();
  const [hasTried, setTried] = useState(false);
  const sending = useRef<AbortController>(undefined);
  useEffect(() => () => sending.current?.abort(), []);

  const isNameFine = isPluginName(name);
  const isSemverFine = semver.trim() === '' || isSemver(semver.trim());
  const { submit, isBusy, error, reset } = useSubmit(async () => {
    setTried(true);
    if (!isNameFine || !isSemverFine) return;
    const controller = new AbortController();
    sending.current = controller;
    onProgress(0);
    const about = Object.entries({ guest: guestId, semver: semver.trim(), note: note.trim() });
    const query = new URLSearchParams(about.filter(([, value]) => value !== '')).toString();
    const path = `${pluginApiPath(extensionPoint.id, userId, name)}${query === '' ? '' : `?${query}`}`;
    try {
      const published = await upload<PublishedPlugin>(api, {
        url: href(path),
        body: new Blob([draft.bytes]),
        contentType: 'application/wasm',
        onProgress,
        signal: controller.signal,
      });
      onPublished(published);
    } finally {
      onProgress(undefined);
      if (controller.signal.aborted) onUnsure();
    }
  });

  const isTyped = name !== pluginNameOf(draft.fileName) || semver !== '' || note !== '';
  const leaving = useNavigationGuard(isBusy || isTyped);

  const isTaken = hasCode(error, 'plugin_name_taken');
  const nameFault =
    hasTried && !isNameFine
      ? 'Use 1 to 100 letters (a to z), digits, “.”, “_” and “-”, starting with a letter or digit.'
      : isTaken
        ? error.message
        : undefined;
  const present = useLookup<Plugin>(
    `/api/v1/extension-points/${extensionPoint.id}/plugins`,
    isNameFine ? { userId, name } : undefined,
  );
  const advice = publishHint(error);
  return (
    <form class="publish-form stack" onSubmit={submit} noValidate>
      <ModuleFindings
        check={draft.check}
        extensionPoint={extensionPoint}
        isRefused={hasCode(error, 'interface_mismatch')}
      />
      <TextField
        label="Plugin name"
        name="name"
        value={name}
        onInput={(value) => {
          onTarget({ ...target, name: value });
          reset();
        }}
        maxLength={100}
        isCode
        isDisabled={isBusy}
        error={nameFault}
        hint={
          present === undefined
            ? 'A new plugin. Hosts see this name.'
            : `Publishes version ${present.version.number + 1} of ${name}.`
        }
      />
      <TextField
        label="Semantic version"
        name="semver"
        value={semver}
        onInput={(value) => onTarget({ ...target, semver: value })}
        maxLength={maxSemverLength}
        placeholder={present?.version.semver ?? '1.0.0'}
        isCode
        isRequired={false}
        isDisabled={isBusy}
        error={isSemverFine || !(hasTried || /^\d+\.\d+\.\d+/.test(semver)) ? undefined : semverFault}
        hint="Optional label, such as 1.4.0. Versions are numbered automatically."
      />
      <TextAreaField
        label="Note"
        name="note"
        value={note}
        onInput={(value) => onTarget({ ...target, note: value })}
        maxLength={maxReasonLength}
        rows={2}
        isRequired={false}
        isDisabled={isBusy}
        hint="What’s new. Shown in the history."
      />
      {guests.size < 2 ? null : (
        <SelectField
          label="Guest"
          name="guest"
          value={guestId}
          isDisabled={isBusy}
          onChange={(value) => onTarget({ ...target, guestId: value })}
          options={[
            { value: '', label: props.hasMoreGuests ? 'all of your guests' : `all of your ${guests.size} guests` },
            ...[...guests].map(([id, words]) => ({ value: id, label: `only ${words}` })),
          ]}
          hint="You accepted several invitations of this application, and are a guest under each."
        />
      )}
      {isTaken ? null : (
        <>
          <ErrorView error={error} />
          {advice === undefined ? null : <p>{advice}</p>}
        </>
      )}
      <div class="actions">
        <Button type="submit" isBusy={isBusy} isDisabled={isChecking}>
          Publish
        </Button>
        {isBusy ? (
          <Button kind="quiet" onClick={() => sending.current?.abort()}>
            Stop
          </Button>
        ) : (
          <Button kind="quiet" onClick={onCancel}>
            Cancel
          </Button>
        )}
      </div>
      <LeaveDialog
        question={leaving}
        {...(isBusy
          ? {
              title: 'Stop the upload and leave?',
              text: `${draft.fileName} is still uploading. It won’t be published if you leave.`,
            }
          : {
              title: 'Leave without publishing?',
              text: 'The plugin won’t be published, and your changes will be lost.',
            })}
      />
    </form>
  );
}

const semverFault = 'A semantic version has three numbers, as in 1.4.0 or 2.0.0-beta.1 (see semver.org).';
