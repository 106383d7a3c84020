import { useEffect, useState } from 'preact/hooks';

const RETRY_MS = 2000;

/** Loads a JSON document from the demo, and retries until it succeeds. Returns undefined until then. */
export function useJson(path: string): unknown {
  const [document, setDocument] = useState<unknown>();
  const [failures, setFailures] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    load(path, abort.signal).then(setDocument, () => {
      if (!abort.signal.aborted) timer = setTimeout(() => setFailures(failures + 1), RETRY_MS);
    });
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [path, failures]);
  return document;
}

async function load(path: string, signal: AbortSignal): Promise<unknown> {
  const reply = await fetch(path, { signal });
  if (!reply.ok) throw new Error(`GET ${path} was answered with ${reply.status}.`);
  return reply.json();
}
