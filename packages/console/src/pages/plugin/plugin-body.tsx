import type { App, Version } from '@tenon/protocol';
import { isRollOutOpen } from '@tenon/protocol/roll-out-limits';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { UsageSection } from '../../components/usage/usage-section.tsx';
import { useAccount } from '../../state/services.ts';
import { useHeadingFocus } from '../../state/use-heading-focus.ts';
import { RollOutSection } from '../roll-outs/roll-out-section.tsx';
import { AboutPlugin } from './about.tsx';
import { BlockDialog, BlockPublisherDialog } from './block-dialog.tsx';
import { BoundTable } from './bound-table.tsx';
import { DeletePlugin } from './delete-plugin.tsx';
import { History } from './history.tsx';
import { InUseBadge } from './in-use-badge.tsx';
import { PinDialog, UnpinDialog } from './pin-dialog.tsx';
import { stateBadges, stateWords } from './plugin-words.ts';
import { ProvenanceBadge } from './provenance.tsx';
import { SimilarNames } from './similar-names.tsx';
import { StatusNotices } from './status-notices.tsx';
import { undoOfVersionAction } from './undo-action.ts';
import type { PluginData } from './use-plugin.ts';
import { type Binding, isNewestEverywhere, rolesOf, type VersionAction } from './version-actions.ts';
import { VersionDialog } from './version-dialog.tsx';
import './plugin.css';

/** A plugin's status, active versions, history, and actions. The same for its publisher and the team. */
export function PluginBody(props: {
  readonly app: App;
  readonly data: PluginData;
  /** The plugin's path in the API. */
  readonly apiPath: string;
  /** The names of its guests by id: keys for the team, neutral names for others. */
  readonly guests: ReadonlyMap<string, string>;
  readonly guestPath?: (guestId: string) => string;
  /** The publisher, for the team. */
  readonly publisher?: ComponentChildren;
  /** The page to show after the plugin is deleted. */
  readonly listPath: string;
  readonly onChanged: () => void;
  readonly onOlderVersions: () => Promise<void>;
}) {
  const { app, data, apiPath, guests, guestPath, publisher } = props;
  const { plugin, versions } = data;
  const account = useAccount();
  const [dialog, setDialog] = useState<ComponentChildren>();
  const [isLoaded, setLoaded] = useState(false);
  const keepFocus = useHeadingFocus();
  const onDone = (): void => {
    keepFocus();
    props.onChanged();
  };
  const roles = rolesOf(app, plugin, account.id);
  const shared = { guests, onDone, onClose: () => setDialog(undefined) };
  const confirm = (action: VersionAction, version: Version): void =>
    setDialog(
      <VersionDialog
        {...shared}
        action={action}
        name={plugin.name}
        version={version}
        isBlocked={plugin.status.state === 'blocked'}
        endsRollback={isNewestEverywhere(data, version)}
        apiPath={apiPath}
        isPublishedByOther={!roles.isPublisher}
        extensionPointId={roles.isHost ? plugin.extensionPointId : undefined}
        undo={undoOfVersionAction(action, version, data, { name: plugin.name, apiPath, roles })}
      />,
    );
  const pin = (Dialog: typeof PinDialog, binding: Binding): void => {
    const { extensionPointId, name } = plugin;
    const pinPath = `/api/v1/extension-points/${extensionPointId}/guests/${binding.guestId}/pins/${name}`;
    const guest = binding.guestKey ?? guests.get(binding.guestId) ?? 'this guest';
    setDialog(<Dialog {...shared} binding={binding} guest={guest} versions={versions} apiPath={pinPath} />);
  };
  const blockPublisher = (): void => setDialog(<BlockPublisherDialog {...shared} appId={app.id} plugin={plugin} />);
  return (
    <>
      <dl class="facts">
        <div>
          <dt>Status</dt>
          <dd>
            <InUseBadge plugin={plugin} />
          </dd>
        </div>
        {publisher === undefined ? null : (
          <div>
            <dt>Published by</dt>
            <dd>{publisher}</dd>
          </div>
        )}
        <div>
          <dt>Newest version</dt>
          <dd>
            {plugin.version.number}
            {plugin.version.semver === null ? '' : ` · ${plugin.version.semver}`}{' '}
            <Badge kind={stateBadges[plugin.version.state]}>{stateWords[plugin.version.state]}</Badge>{' '}
            <ProvenanceBadge version={plugin.version} />{' '}
            <span class="soft small">
              <Time at={plugin.version.createdAt} />
            </span>
          </dd>
        </div>
        <div>
          <dt>First published</dt>
          <dd>
            <Time at={plugin.createdAt} />
          </dd>
        </div>
      </dl>
      <AboutPlugin plugin={plugin} apiPath={apiPath} roles={roles} />
      <SimilarNames appId={app.id} plugins={plugin.similarPlugins ?? []} />
      <StatusNotices
        data={data}
        roles={roles}
        onAction={confirm}
        onUnblock={() =>
          plugin.status.isPublisherBlocked
            ? blockPublisher()
            : setDialog(<BlockDialog {...shared} plugin={plugin} apiPath={apiPath} />)
        }
      />
      {versions
        .filter(({ rollOut }) => rollOut != null && isRollOutOpen(rollOut.state))
        .map((version) => (
          <RollOutSection
            key={version.id}
            versionPath={`${apiPath}/versions/${version.number}`}
            version={version}
            roles={roles}
            isMember={app.role !== 'guest'}
            guests={guests}
            onChanged={onDone}
          />
        ))}
      <Section
        title="Active versions"
        intro={`The version that ${publisher === undefined ? `${app.name} gets` : 'hosts get'} for each guest.`}
      >
        <BoundTable
          data={data}
          apiPath={apiPath}
          guests={guests}
          guestPath={guestPath}
          onLoaded={() => setLoaded(true)}
          onPin={roles.isHost ? (binding) => pin(PinDialog, binding) : undefined}
          onUnpin={roles.isHost ? (binding) => pin(UnpinDialog, binding) : undefined}
        />
      </Section>
      {isLoaded ? <UsageSection apiPath={apiPath} of={{ kind: 'plugin' }} /> : null}
      <Section title="History">
        <History
          data={data}
          apiPath={apiPath}
          guests={guests}
          roles={roles}
          isMember={app.role !== 'guest'}
          onAction={confirm}
          onTested={props.onChanged}
          onOlder={props.onOlderVersions}
        />
      </Section>
      {roles.isHost && plugin.status.state !== 'blocked' ? (
        <Section
          isBeside
          title="Block plugin"
          intro="Hosts stop receiving it and no versions can be published until you unblock it."
        >
          <Button
            kind="danger"
            onClick={() => setDialog(<BlockDialog {...shared} plugin={plugin} apiPath={apiPath} />)}
          >
            Block plugin…
          </Button>
        </Section>
      ) : null}
      {roles.isHost && !plugin.status.isPublisherBlocked ? (
        <Section
          isBeside
          title="Block publisher"
          intro={`Hosts stop receiving all plugins of ${plugin.userName} in ${app.name}, and ${plugin.userName} can publish none.`}
        >
          <Button kind="danger" onClick={blockPublisher}>
            Block publisher…
          </Button>
        </Section>
      ) : null}
      {roles.isHost || roles.isPublisher ? (
        <DeletePlugin
          plugin={plugin}
          versions={versions.length}
          apiPath={apiPath}
          guests={guests}
          isHost={roles.isHost}
          listPath={props.listPath}
        />
      ) : null}
      {dialog}
    </>
  );
}
