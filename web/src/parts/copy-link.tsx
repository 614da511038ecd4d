import { useTransientText } from "./use-transient-text.js";

interface CopyLinkProps {
	/** To what is looked at, from the address shown, which follows a moment later; and what to say of it. */
	readonly link: (shown: string) => { readonly link: string; readonly words: string };
}

/** The address of what is looked at: the view, never a patient's records. */
export function CopyLink({ link: linkFrom }: CopyLinkProps) {
	const [said, say] = useTransientText();
	return (
		<button
			type="button"
			className="small"
			title="The link holds the view, the date and the codes, and nothing of a patient's records"
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
