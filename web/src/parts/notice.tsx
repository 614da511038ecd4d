import { type ReactNode, useEffect, useState } from "react";
import type { Loaded } from "../data/use-loaded.js";

interface NoticeProps {
	readonly kind: "loading" | "empty" | "warning" | "error";
	readonly title: string;
	readonly children?: ReactNode;
}

const roles = { loading: "status", empty: undefined, warning: undefined, error: "alert" } as const;

/** A message: something is loading, missing, unreliable or failed. */
export function Notice({ kind, title, children }: NoticeProps) {
	return (
		<div className={`notice notice-${kind}`} role={roles[kind]}>
			{kind === "loading" && <span className="spinner" aria-hidden="true" />}
			<div>
				<p className="notice-title">{title}</p>
				{children}
			</div>
		</div>
	);
}

interface WhenLoadedProps<T> {
	readonly loaded: Loaded<T>;
	readonly what: string;
	readonly children: (value: T) => ReactNode;
}

/** What depends on a document; until it is loaded, or if it cannot be, a notice. */
export function WhenLoaded<T>({ loaded, what, children }: WhenLoadedProps<T>) {
	if (loaded.state === "ready") return children(loaded.value);
	return loaded.state === "loading" ? (
		<Notice kind="loading" title={`Loading ${what}…`} />
	) : (
		<Notice kind="error" title={`Could not load ${what}`}>
			<p>{loaded.message}</p>
		</Notice>
	);
}

/** Long enough to skip the intermediate steps of a drag. */
const quietMilliseconds = 700;

/** Announces a change to screen readers once the words have settled. */
export function Announcement({ words }: { readonly words: string }) {
	const [said, setSaid] = useState("");
	useEffect(() => {
		const timer = setTimeout(() => setSaid(words), quietMilliseconds);
		return () => clearTimeout(timer);
	}, [words]);
	return (
		<p className="hidden announcement" role="status">
			{said}
		</p>
	);
}
