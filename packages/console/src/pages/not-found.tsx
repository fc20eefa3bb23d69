import { LinkButton } from '../components/button.tsx';
import { type Crumb, Page } from '../components/page.tsx';

/** The page of something that doesn't exist, or that the reader may not see. */
export function NotFoundPage(props: {
  readonly kind?: string;
  readonly crumbs?: readonly Crumb[];
  /** The page that the button opens. */
  readonly next?: Crumb;
}) {
  const { kind = 'Page', crumbs = [], next = { label: 'Go to your applications', to: '/' } } = props;
  return (
    <Page title={`${kind} not found`} crumbs={crumbs} intro="It doesn’t exist, or you don’t have access to it.">
      <div class="actions">
        <LinkButton to={next.to}>{next.label}</LinkButton>
      </div>
    </Page>
  );
}
