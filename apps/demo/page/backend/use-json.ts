import { useEffect, useState } from 'preact/hooks';

const RETRY_MS = 2000;

/** Loads a JSON document of our own server; undefined until it is there. Where it can't be had, it is asked for again. */
export function useJson(path: string): unknown {
  const [document, setDocument] = useState<unknown>();
  const [failures, setFailures] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    load(path, leaving.signal).then(setDocument, () => {
      if (!leaving.signal.aborted) timer = setTimeout(() => setFailures(failures + 1), RETRY_MS);
    });
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [path, failures]);
  return document;
}

async function load(path: string, signal: AbortSignal): Promise<unknown> {
  const reply = await fetch(path, { signal });
  if (!reply.ok) throw new Error(`${path} is not there: ${reply.status}`);
  return reply.json();
}
