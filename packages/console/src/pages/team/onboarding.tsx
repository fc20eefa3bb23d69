import type { App, AppOverview, UsageSeries } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { LinkButton } from '../../components/button.tsx';
import { Link } from '../../components/link.tsx';
import { Section } from '../../components/page.tsx';
import { HostSample } from './host-sample.tsx';
import { mayManage } from './use-app.ts';

/** The server writes usage counters once a minute, and usage is no change that open pages learn of. */
const usageReloadMs = 10_000;

interface Step {
  readonly title: string;
  readonly text: ComponentChildren;
  readonly isDone: boolean;
  /** What to do, for users who may. */
  readonly action: ComponentChildren;
}

/**
 * The steps to the first plugin that a host fetches. Renders nothing when all are done.
 *
 * @param usage how hosts use the application; `undefined` if they never did
 */
export function Onboarding(props: {
  readonly app: App;
  readonly overview: AppOverview;
  readonly usage: UsageSeries | undefined;
  readonly reloadUsage: () => void;
}) {
  const { reloadUsage } = props;
  const steps = stepsOf(props);
  const done = steps.filter(({ isDone }) => isDone).length;
  const next = steps.findIndex(({ isDone }) => !isDone);
  const awaitsFetch = next === steps.length - 1;
  useEffect(() => {
    if (!awaitsFetch) return;
    const timer = setInterval(reloadUsage, usageReloadMs);
    return () => clearInterval(timer);
  }, [awaitsFetch, reloadUsage]);
  if (done === steps.length) return null;
  return (
    <Section
      title="Get started"
      actions={
        <span class="progress">
          <progress value={done} max={steps.length} aria-label="Steps done" />
          <span class="soft small">
            {done} of {steps.length} done
          </span>
        </span>
      }
    >
      <ol class="steps">
        {steps.map(({ title, text, isDone, action }, at) => (
          <li key={title} data-done={isDone || undefined} aria-current={at === next ? 'step' : undefined}>
            <div>
              <h3>{title}</h3>
              <p>{text}</p>
            </div>
            {isDone ? null : action}
          </li>
        ))}
      </ol>
      {awaitsFetch ? <HostSample example={props.overview.example} /> : null}
    </Section>
  );
}

function stepsOf({ app, overview, usage }: Parameters<typeof Onboarding>[0]): readonly Step[] {
  const base = `/apps/${app.id}`;
  const { example } = overview;
  const isManager = mayManage(app.role);
  const hasPoint = overview.extensionPoints > 0;
  const hasGuest = overview.guests > 0;
  return [
    {
      title: 'Create an extension point',
      text: 'Its schema defines what a plugin exports, and each function’s input and output.',
      isDone: hasPoint,
      action: isManager ? (
        <LinkButton isSmall to={`${base}/extension-points/new`}>
          New extension point
        </LinkButton>
      ) : null,
    },
    {
      title: 'Invite a guest',
      text: 'You choose a guest key for each customer. Guests can’t see it.',
      isDone: hasGuest,
      action: isManager ? (
        <LinkButton isSmall kind={hasPoint ? 'primary' : 'quiet'} to={`${base}/guests?invite=guest`}>
          Invite a guest
        </LinkButton>
      ) : null,
    },
    {
      title: 'Publish a plugin',
      text: 'Your guest opens the invitation, and publishes in the browser or with the command line.',
      isDone: overview.plugins > 0,
      action:
        app.guests.length > 0 && example.extensionPoint !== null ? (
          <LinkButton isSmall to={`${base}/my-plugins/${example.extensionPoint.id}`}>
            Publish a plugin
          </LinkButton>
        ) : hasGuest ? (
          <Link to={`${base}/guests`}>View guests</Link>
        ) : null,
    },
    {
      title: 'Fetch it from your host',
      text: 'Your application loads the plugins of a guest key with @tenon/client. The first fetch shows here within a minute.',
      isDone: usage !== undefined,
      action: null,
    },
  ];
}
