import { useTransientText } from "./use-transient-text.js";

interface CopyLinkProps {
	/** The link to the current view, given the address bar's URL, which lags behind; and a confirmation. */
	readonly link: (shown: string) => { readonly link: string; readonly words: string };
}

/** Copies a link to the current view; it never holds a patient's records. */
export function CopyLink({ link: linkFrom }: CopyLinkProps) {
	const [said, say] = useTransientText();
	return (
		<button
			type="button"
			className="small"
			title="The link holds the view, the date and the codes; of a sample also the edits, of a file nothing"
			onClick={async () => {
				try {
					const { link, words } = linkFrom(location.href);
					await navigator.clipboard.writeText(link);
					say(words);
				} catch {
					say("Copy it from the address bar");
				}
			}}
		>
			<span role="status">{said || "Copy link"}</span>
		</button>
	);
}
