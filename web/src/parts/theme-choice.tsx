import { useEffect, useState } from "react";

const themes = ["system", "light", "dark"] as const;
type Theme = (typeof themes)[number];

const stored = (): Theme => {
	try {
		return themes.find((theme) => theme === localStorage.getItem("theme")) ?? "system";
	} catch {
		return "system";
	}
};

/** Light or dark; the system's choice by default. */
export function ThemeChoice() {
	const [theme, setTheme] = useState<Theme>(stored);
	useEffect(() => {
		document.documentElement.dataset.theme = theme;
		try {
			localStorage.setItem("theme", theme);
		} catch {
			// Storage may be blocked: the choice then lasts until the page is closed.
		}
	}, [theme]);
	return (
		<label className="theme">
			<span className="hidden">Colours</span>
			<select value={theme} onChange={(event) => setTheme(event.target.value as Theme)}>
				<option value="system">system colours</option>
				<option value="light">light</option>
				<option value="dark">dark</option>
			</select>
		</label>
	);
}
