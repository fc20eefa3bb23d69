import type { ExtensionPoint, Plugin } from '@tenon/protocol';
import { useRef } from 'preact/hooks';
import { useRoute } from 'preact-iso/router';
import { Button } from '../../components/button.tsx';
import { CommandBlock } from '../../components/command-block.tsx';
import { Page, Section } from '../../components/page.tsx';
import { SchemaView } from '../../components/schema-view.tsx';
import { Skeleton } from '../../components/spinner.tsx';
import { useAccount, useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { useList } from '../../state/use-list.ts';
import { AppError } from '../app-error.tsx';
import { SimulationsSection } from '../simulations/simulations-section.tsx';
import { useApp } from '../team/use-app.ts';
import { GuestOnly } from './guest-frame.tsx';
import { OwnPlugins } from './own-plugins.tsx';
import { PublishPanel } from './publish-panel.tsx';

/** An extension point as guests see it: publish, what one has published, and what is expected. */
export function PublishPage() {
  const api = useApi();
  const { appId, app } = useApp();
  const { id: userId } = useAccount();
  const { extensionPointId = '' } = useRoute().params;
  const path = `/api/v1/extension-points/${encodeURIComponent(extensionPointId)}`;
  const point = useCachedData(path, (signal) => api.get<ExtensionPoint>(path, { signal }));
  const own = useList<Plugin>(`${path}/plugins`, {
    fixed: { userId, maxGuests: '20' },
    sort: 'name',
    limit: 20,
  });
  const documentation = useRef<HTMLDivElement>(null);

  const failed = app.status === 'failed' ? app : point.status === 'failed' ? point : undefined;
  if (failed !== undefined) return <AppError error={failed.error} onRetry={failed.reload} />;
  const appName = app.status === 'ready' ? app.data.name : 'Application';
  const title = point.status === 'ready' ? point.data.name : 'Extension point';

  const readDocumentation = (): void => {
    const heading = documentation.current;
    heading?.scrollIntoView({ block: 'start' });
    heading?.focus({ preventScroll: true });
  };
  return (
    <Page
      title={title}
      windowTitle={`${title} · ${appName}`}
      crumbs={[
        { label: 'Applications', to: '/' },
        { label: appName, to: `/apps/${appId}/my-plugins` },
      ]}
      actions={
        <Button kind="quiet" isSmall onClick={readDocumentation}>
          Requirements
        </Button>
      }
    >
      {app.status === 'ready' && point.status === 'ready' ? (
        <GuestOnly app={app.data}>
          <Section title="Publish a plugin">
            <PublishPanel
              app={app.data}
              extensionPoint={point.data}
              onPublished={own.page.reload}
              onUnsure={own.page.reload}
            />
          </Section>
          <Section title="Your plugins">
            <OwnPlugins app={app.data} plugins={own} />
          </Section>
          <SimulationsSection apiPath={path}>
            <p class="soft">Run them on your computer before you publish:</p>
            <CommandBlock
              command={`tenon plugin test plugin.wasm --extension-point ${point.data.id}`}
              what="the command that runs the simulations"
            />
          </SimulationsSection>
          <div ref={documentation} tabIndex={-1} class="jump-target">
            <Section title="Requirements">
              <SchemaView schema={point.data.schema} />
            </Section>
          </div>
        </GuestOnly>
      ) : (
        <Skeleton lines={6} />
      )}
    </Page>
  );
}
