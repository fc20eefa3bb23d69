import { Component, type ComponentChildren, type ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import lazy from 'preact-iso/lazy';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso/router';
import { basePath, href } from './base-path.ts';
import { ErrorView } from './components/error-view.tsx';
import { BareLayout, Layout } from './components/layout.tsx';
import { PasswordDialog } from './components/password-dialog.tsx';
import { Readiness } from './components/readiness.tsx';
import { SignInAgainDialog } from './components/sign-in-again-dialog.tsx';
import { Spinner } from './components/spinner.tsx';
import { ToastList } from './components/toast-list.tsx';
import { NotFoundPage } from './pages/not-found.tsx';
import { pageRoutes } from './routes/all.ts';
import type { PageRoute } from './routes/page-route.ts';
import { loadPage } from './state/load-page.ts';
import { isTraceDocument } from './state/loaded-document.ts';
import { markNavigated } from './state/navigation.ts';
import { type Services, ServicesContext, useSession } from './state/services.ts';

export function App({ services }: { readonly services: Services }) {
  return (
    <ServicesContext.Provider value={services}>
      <LocationProvider scope={basePath}>
        <Router onRouteChange={markNavigated}>
          {pages.map(({ path, component }) => (
            <Route key={path} path={href(path)} component={component} />
          ))}
          <Route default component={NotFound} />
        </Router>
      </LocationProvider>
      <PasswordDialog />
      <SignInAgainDialog />
      <ToastList />
    </ServicesContext.Provider>
  );
}

const SignInForm = lazy(() => loadPage(async () => (await import('./pages/sign-in-form.tsx')).SignInForm));

const pages = pageRoutes.map((route) => ({ path: route.path, component: framed(route) }));

/** Renders a page in the layout, after the sign-in if it needs one, and a placeholder while its code loads. */
function framed({ access, isBare, isOwnDocument = false, load }: PageRoute): ComponentType {
  if (isOwnDocument !== isTraceDocument) return InOtherDocument;
  const Content = lazy(() => loadPage(load));
  const Frame = isBare ? BareLayout : Layout;
  return function FramedPage() {
    const { session, view } = useSession();
    const { url } = useLocation();
    if (view.status === 'loading') {
      void Content.preload(); // in parallel with the session
      return <Waiting />;
    }
    if (view.status === 'failed') {
      return (
        <BareLayout>
          <h1>Tenon cannot be reached</h1>
          <ErrorView error={view.error} onRetry={() => void session.load()} />
          <Readiness cause={view.error} />
        </BareLayout>
      );
    }
    if (access === 'signedIn' && view.account === null) {
      return (
        <BareLayout>
          <SignInForm />
        </BareLayout>
      );
    }
    return (
      <Frame>
        <ErrorBoundary key={view.account?.id ?? 'none'} place={url}>
          <Content />
        </ErrorBoundary>
      </Frame>
    );
  };
}

/** Has the browser load the address that it shows: the page there is answered with other headers than the document that is open. */
function InOtherDocument() {
  useEffect(() => location.replace(location.href), []);
  return <Waiting />;
}

function Waiting() {
  return (
    <div class="waiting">
      <Spinner label="Loading…" />
    </div>
  );
}

function NotFound() {
  const { view } = useSession();
  if (view.status === 'loading') return <Waiting />;
  const Frame = view.status === 'ready' && view.account !== null ? Layout : BareLayout;
  return (
    <Frame>
      <NotFoundPage />
    </Frame>
  );
}

interface ErrorBoundaryProps {
  readonly children: ComponentChildren;
  /** The URL; a change of it resets the error. */
  readonly place: string;
}

/** Shows that a page of ours failed, in the place of the page. */
class ErrorBoundary extends Component<ErrorBoundaryProps, { readonly error?: unknown }> {
  static override getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }
  override componentDidCatch(error: unknown): void {
    console.error(error);
  }
  override componentDidUpdate({ place }: ErrorBoundaryProps): void {
    if (place !== this.props.place && this.state.error !== undefined) this.setState({ error: undefined });
  }
  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return <ErrorView error={error} onRetry={() => this.setState({ error: undefined })} />;
  }
}
